"""The recipe of a comparison: how a set and seed are trained, averaged and translated.

The name of a set may have changes, see `variants`.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib

from t2t_phrase.comparison import variants
from t2t_phrase.comparison.sentences import Sentences, sentences_of
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import Problem, get_problem
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import last_value, read_commands
from t2t_phrase.runs.record import FILE, RunRecord, resolve_hparams
from t2t_phrase.training_hparams import TrainingHParams

# The value of --contrastive for pairs from the grammar.
GRAMMAR = "grammar"
# The number of checkpoints that are kept of each run.
_KEPT = 20


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The settings that all sets share.

    Attributes:
        problem: registered name of the problem.
        data_dir: folder of its data.
        work_dir: folder for the runs and what is made of them.
        train_steps: updates of each run.
        hparams: changes to every set, in T2T's syntax.
        num_last_checkpoints: number of checkpoints of each run to average.
        decode_hparams: options of decoding.
        test_sentences: number of sentences to translate, for the grammar.
        split: "dev" or "test", the sentences to translate.
        local_eval_frequency: updates between two checkpoints; 0: a twentieth of train_steps.
        contrastive: contrastive pairs, GRAMMAR or the JSON file of LingEval97; empty: none.
        warm_start_from: run or average from which every training starts; empty: random weights.
        t2t_usr_dir: folder of the user's registrations; empty: none.
    """

    problem: str
    data_dir: pathlib.Path
    work_dir: pathlib.Path
    train_steps: int
    hparams: str
    num_last_checkpoints: int
    decode_hparams: str
    test_sentences: int
    split: str = "test"
    local_eval_frequency: int = 0
    contrastive: str = ""
    warm_start_from: str = ""
    t2t_usr_dir: str = ""

    def commands(self, name: str, seed: object) -> dict[str, list[str]]:
        """Return the flags of every command of one set and seed, in order.

        Args:
            name: hparams set, with or without changes.
            seed: of the run.
        """
        run, averaged = self.place(name, seed), self.place(name, seed, "-averaged")
        hparams_set, overrides = variants.split(name, self.hparams)
        commands = {
            "trainer": [
                f"--problem={self.problem}",
                f"--hparams_set={hparams_set}",
                f"--hparams={overrides}",
                f"--data_dir={self.data_dir}",
                f"--output_dir={run}",
                f"--train_steps={self.train_steps}",
                "--schedule=train",
                f"--local_eval_frequency={self._updates_between_checkpoints}",
                f"--keep_checkpoint_max={_KEPT}",
                f"--random_seed={seed}",
                *([f"--warm_start_from={self.warm_start_from}"] if self.warm_start_from else []),
            ],
            "avg": [
                f"--output_dir={run}",
                f"--num_last_checkpoints={self.num_last_checkpoints}",
                f"--output_path={averaged}",
            ],
            "decoder": [
                f"--output_dir={averaged}",
                f"--data_dir={self.data_dir}",
                f"--decode_hparams={self.decode_hparams}",
                f"--decode_from_file={self.test.source}",
                f"--decode_to_file={self.translation(name, seed)}",
            ],
        }
        if self.contrastive:
            commands["contrast"] = [
                f"--output_dir={averaged}",
                f"--data_dir={self.data_dir}",
                f"--json_to_file={self.contrasts(name, seed)}",
            ]
            if self.contrastive != GRAMMAR:
                commands["contrast"].append(f"--contrastive_file={self.contrastive}")
        if self.t2t_usr_dir:
            for module in {"trainer", "decoder", "contrast"} & {*commands}:
                commands[module].append(f"--t2t_usr_dir={self.t2t_usr_dir}")
        return commands

    @property
    def _updates_between_checkpoints(self) -> int:
        return self.local_eval_frequency or max(1, self.train_steps // 20)

    def check_checkpoints(self) -> None:
        """Check that a run has as many checkpoints as are averaged.

        Raises:
            UserError: it has fewer.
        """
        distance = self._updates_between_checkpoints
        kept = min(_KEPT, -(-self.train_steps // distance))
        if self.num_last_checkpoints > kept:
            raise UserError(
                f"--num_last_checkpoints={self.num_last_checkpoints}: a run of {self.train_steps} "
                f"updates has a checkpoint every {distance} updates, and the last {kept} are kept; "
                f"give at most {kept}"
                + (", or a smaller --local_eval_frequency" if kept < _KEPT and distance > 1 else "")
            )

    def place(self, name: str, seed: object, ending: str = "") -> pathlib.Path:
        """Return the path of a file of a set and seed.

        Args:
            name: hparams set, with or without changes.
            seed: of the run.
            ending: what the file is named besides set and seed; empty: the run itself.
        """
        return self.work_dir / f"{variants.file_name(name)}-{seed}{ending}"

    @functools.cached_property
    def test(self) -> Sentences:
        """The sentences to translate, and their references."""
        return sentences_of(
            self.loaded_problem(),
            data_dir=self.data_dir,
            work_dir=self.work_dir,
            size=self.test_sentences,
            split=self.split,
        )

    def translation(self, name: str, seed: object) -> pathlib.Path:
        """Return the path of the translated sentences."""
        return self.place(name, seed, f".{self.split}.{self.loaded_problem().target_language}")

    def contrasts(self, name: str, seed: object) -> pathlib.Path:
        """Return the path of the results on contrastive pairs."""
        return self.place(name, seed, ".contrast.json")

    def loaded_problem(self) -> Problem:
        """Return the problem."""
        return get_problem(self.problem)

    def has_trained(self, name: str, seed: int) -> bool:
        """Return whether a run of this set, seed and hparams has reached its last step."""
        run = self.place(name, seed)
        last = run / f"model.ckpt-{self.train_steps}.index"
        if not last.exists() or not (run / FILE).exists():
            return False
        record = RunRecord.load(run)
        named = (record.problem, record.hparams_set, record.random_seed)
        hparams_set, _ = variants.split(name)
        same = record.resolved() == self.hparams_of(name)
        return same and named == (self.problem, hparams_set, seed)

    def hparams_of(self, name: str) -> TrainingHParams:
        """Return the hparams of a set."""
        return resolve_hparams(*variants.split(name, self.hparams))[0]

    def why_unfinished(self, name: str, seed: int) -> str:
        """Return the reason that `has_trained` is false."""
        run = self.place(name, seed)
        if (run / f"model.ckpt-{self.train_steps}.index").exists() and (run / FILE).exists():
            return "trained with other settings"
        return f"not trained to step {self.train_steps} yet"

    def check_not_longer(self, name: str, seed: int) -> None:
        """Refuse a run that has been trained beyond the last step of the recipe.

        Raises:
            UserError: its last checkpoints are not those of the recipe.
        """
        run = self.place(name, seed)
        found = checkpoints.complete(run)
        step = int(found[-1].rpartition("-")[2]) if found else 0
        if step > self.train_steps:
            raise UserError(
                f"{run} is at update {step}, and its last checkpoints would be averaged; give "
                f"--train_steps={step} or another --output_dir"
            )

    def check_same(self, name: str, seed: int) -> None:
        """Refuse a finished run with which a run of this recipe could not be compared.

        Raises:
            UserError: its checkpoints are further or less far apart, or its data have changed.
        """
        run = self.place(name, seed)
        kept = last_value(read_commands(run), "local_eval_frequency")
        if kept.isdigit() and int(kept) != self._updates_between_checkpoints:
            raise UserError(
                f"{run} has a checkpoint every {kept} updates, not every "
                f"{self._updates_between_checkpoints}; give --local_eval_frequency={kept} or "
                "another --output_dir"
            )
        record = RunRecord.load(run)
        hparams = record.resolved()
        data = self.loaded_problem().data_digest(
            str(self.data_dir), hparams.training_features, hparams.sampled_segmentations
        )
        if record.data and data and record.data != data:
            raise UserError(
                f"{run} holds a run on different data: the data of {self.problem} in "
                f"{self.data_dir} have been regenerated since; give another --output_dir"
            )
