"""The steps of t2t-phrase-compare for a set and seed: train, average, translate.

The name of a set may have changes, see `variants`.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import shlex
import sys
from collections.abc import Sequence
from typing import NamedTuple

from t2t_phrase.comparison import variants
from t2t_phrase.comparison.sentences import Sentences, sentences_of
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import Problem, get_problem
from t2t_phrase.decoding.feature_files import file_beside
from t2t_phrase.features import of_side
from t2t_phrase.io.child_process import call
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import last_value, read_commands
from t2t_phrase.runs.record import FILE, RunRecord, resolve_hparams
from t2t_phrase.training_hparams import TrainingHParams

# The value of --contrastive for pairs from the grammar.
GRAMMAR = "grammar"
# The number of checkpoints that the trainer keeps.
_KEPT = 20


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The settings that all sets share.

    Attributes:
        local_eval_frequency: updates between two checkpoints; 0: a twentieth of train_steps.
        split: "dev" or "test", the sentences to translate.
        warm_start_from: run or average from which every training starts; empty: random weights.
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
        """Return the flags of every command of one set and seed, in order."""
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
        """Return the path of a file of a set and seed."""
        return self.work_dir / f"{variants.file_name(name)}-{seed}{ending}"

    @functools.cached_property
    def test(self) -> Sentences:
        """The sentences to translate, and their references."""
        return sentences_of(
            self.loaded(),
            data_dir=self.data_dir,
            work_dir=self.work_dir,
            size=self.test_sentences,
            split=self.split,
        )

    def translation(self, name: str, seed: object) -> pathlib.Path:
        """Return the path of the translated sentences."""
        return self.place(name, seed, f".{self.split}.{self.loaded().target_language}")

    def contrasts(self, name: str, seed: object) -> pathlib.Path:
        """Return the path of the results on contrastive pairs."""
        return self.place(name, seed, ".contrast.json")

    def loaded(self) -> Problem:
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
        data = self.loaded().data_digest(
            str(self.data_dir), hparams.training_features, hparams.sampled_segmentations
        )
        if record.data and data and record.data != data:
            raise UserError(
                f"{run} holds a run on different data: the data of {self.problem} in "
                f"{self.data_dir} have been regenerated since; give another --output_dir"
            )


def command_line(module: str, flags: Sequence[str]) -> str:
    """Return a command as it is typed in a shell."""
    return f"t2t-phrase-{module} {shlex.join(flags)}"


class StepFailed(UserError):
    """A command failed."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Steps:
    """Runs commands, unless their output was made with the same flags from the same inputs."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def make(
        self,
        module: str,
        flags: list[str],
        *,
        made: pathlib.Path,
        sources: Sequence[pathlib.Path],
        log: pathlib.Path,
    ) -> None:
        """Run a command unless `made` exists, is newer than `sources` and has the same flags."""
        stamp = made.with_name(f"{made.name}.flags")
        if made.exists() and stamp.exists() and stamp.read_text() == "\n".join(flags):
            marker = made / "checkpoint" if made.is_dir() else made
            if marker.exists() and marker.stat().st_mtime >= max(
                source.stat().st_mtime for source in sources
            ):
                return
        # If this process is killed, the flags of the old output must not be those of the new one.
        stamp.unlink(missing_ok=True)
        self.run(module, flags, log)
        stamp.write_text("\n".join(flags))

    def run(self, module: str, flags: list[str], log: pathlib.Path) -> None:
        """Run a command and append its output to `log`.

        Raises:
            StepFailed: the command failed; the message has the last lines of its output.
            SystemExit: a signal ended the command, so no other is started; the code is 128 plus
                its number.
        """
        print(f"$ {command_line(module, flags)}", flush=True)
        command = [sys.executable, "-m", f"t2t_phrase.bin.{module}", *flags]
        with log.open("a") as file:
            status = call(command, file)
        if status >= 128:
            print(
                f"t2t-phrase-{module} was ended by signal {status - 128}; run the same command "
                "again to continue",
                file=sys.stderr,
            )
            sys.exit(status)
        if status:
            tail = "\n".join(f"    {line}" for line in log.read_text().splitlines()[-5:])
            raise StepFailed(f"t2t-phrase-{module} failed, see {log}:\n{tail}", status)


def finish_training(recipe: Recipe, name: str, seed: int, *, train: bool = True) -> bool:
    """Train and average a set and seed; return whether that is finished.

    Args:
        train: whether to train if the training is not finished.

    Raises:
        UserError: a command failed, or a run is there that the recipe would not give.
    """
    recipe.check_not_longer(name, seed)
    steps = Steps(recipe.work_dir)
    commands = recipe.commands(name, seed)
    log = recipe.place(name, seed, ".log")
    if not recipe.has_trained(name, seed):
        if not train:
            return False
        steps.run("trainer", commands["trainer"], log)
    else:
        recipe.check_same(name, seed)
    last = recipe.place(name, seed) / f"model.ckpt-{recipe.train_steps}.index"
    averaged = recipe.place(name, seed, "-averaged")
    steps.make("avg", commands["avg"], made=averaged, sources=[last], log=log)
    return True


def finish(recipe: Recipe, name: str, seed: int, *, train: bool) -> bool:
    """Run all steps of a set and seed; return whether they are finished.

    Args:
        train: whether to train if the training is not finished.
    """
    if not finish_training(recipe, name, seed, train=train):
        return False
    steps = Steps(recipe.work_dir)
    commands = recipe.commands(name, seed)
    log, averaged = recipe.place(name, seed, ".log"), recipe.place(name, seed, "-averaged")
    model = averaged / "checkpoint"
    features = of_side(recipe.hparams_of(name).features, "source")

    def with_features(file: pathlib.Path) -> list[pathlib.Path]:
        beside = (file_beside(str(file), feature) for feature in features)
        return [file, *(pathlib.Path(path) for path in beside if path)]

    made, sources = recipe.translation(name, seed), [model, *with_features(recipe.test.source)]
    steps.make("decoder", commands["decoder"], made=made, sources=sources, log=log)
    if recipe.contrastive:
        sources = [model]
        if recipe.contrastive != GRAMMAR:
            sources += with_features(pathlib.Path(recipe.contrastive))
        made = recipe.contrasts(name, seed)
        steps.make("contrast", commands["contrast"], made=made, sources=sources, log=log)
    return True


class Finished(NamedTuple):
    """Finished and failed runs.

    Attributes:
        done: the set and seed of each finished run.
        failed: the exit code by name of each failed run.
    """

    done: list[tuple[str, int]]
    failed: dict[str, int]


def compare(recipe: Recipe, sets: Sequence[str], seeds: Sequence[int], *, train: bool) -> Finished:
    """Train, average and translate with each set and seed; failures do not stop the others.

    Args:
        recipe: the settings that all runs share.
        sets: hparams sets, with or without changes.
        seeds: random seeds.
        train: whether to train runs that are not finished.
    """
    done, failed = [], {}
    # Seeds in the outer loop, so that all sets can be compared after each.
    for seed in seeds:
        for name in sets:
            try:
                if finish(recipe, name, seed, train=train):
                    done.append((name, seed))
                else:
                    print(f"{recipe.why_unfinished(name, seed)}: {name}-{seed}")
            except UserError as error:
                print(f"error: {error}", file=sys.stderr)
                failed[f"{name}-{seed}"] = error.exit_code
    done.sort(key=lambda run: (sets.index(run[0]), seeds.index(run[1])))
    return Finished(done, failed)


def count_parameters(folder: pathlib.Path) -> int:
    """Return the number of weights in the checkpoint of a folder."""
    return checkpoints.count_weights(checkpoints.resolve(folder))
