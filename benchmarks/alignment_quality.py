"""Table 2 of Alkhouli et al. (2018): baselines, lexical models with alignment models, their RNNs.

    t2t-phrase-datagen --problem=translate_ende_grammar --data_dir=data
    python benchmarks/alignment_quality.py --problem=translate_ende_grammar --data_dir=data \\
        --work_dir=runs/table2 --train_steps=1500 --started_steps=750 \\
        --systems=transformer_demo,alignment_assisted_demo:alignment_model_demo:transformer_demo

A system is SET, SET:ALIGNMENT_SET or SET:ALIGNMENT_SET:START_SET: the model that translates, the
alignment model used in its search, and the set whose averaged checkpoint its training starts from.
A model that starts from another trains for --started_steps with --started_hparams. SET::START_SET
is a baseline that is trained for as many further steps. P-values compare with the first system.
Each step is one of the commands, printed before it runs; finished steps are not repeated. The
results are written to WORK_DIR/table2.md and table2.json: case-insensitive BLEU and TER, and the
perplexity of the development set; models with an alignment head are given its alignments.

The data need alignments. The grammar provides them; Multi30k is downloaded, aligned in a writable
folder, and extended by its alignments (see docs/alignments.md):

    t2t-phrase-datagen --problem=translate_ende_multi30k --tmp_dir=raw --data_dir=data
    t2t-phrase-align --source=raw/train.en.gz --target=raw/train.de.gz \\
        --source=raw/val.en.gz --target=raw/val.de.gz \\
        --source=raw/test_2016_flickr.en.gz --target=raw/test_2016_flickr.de.gz
    t2t-phrase-datagen --problem=translate_ende_multi30k --tmp_dir=raw --data_dir=data
    python benchmarks/alignment_quality.py --problem=translate_ende_multi30k --data_dir=data \\
        --work_dir=runs/table2_multi30k --train_steps=6000 --started_steps=3000 \\
        --systems=transformer_multi30k,\\
    alignment_assisted_multi30k:alignment_model_multi30k:transformer_multi30k
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import sys

from alignment_steps import reported
from alignment_table import Row, markdown
from dev_perplexity import evaluate, perplexity
from experiment import called, experiment_parser
from script import run_script
from trained_runs import newest

from t2t_phrase import registry
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.recipe import Recipe
from t2t_phrase.comparison.report import write_report
from t2t_phrase.comparison.runs import finish_training
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints


@dataclasses.dataclass(frozen=True)
class Spec:
    """A row of the table, as hparams sets.

    Attributes:
        words: the model that translates.
        alignment: the alignment model; empty: none.
        start: the model that the training of `words` starts from; empty: random weights.
    """

    words: str
    alignment: str = ""
    start: str = ""

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read SET:ALIGNMENT_SET:START_SET, whose last parts may be left out.

        Raises:
            UserError: the first part is missing, or there are more than three.
        """
        parts = text.split(":")
        if not parts[0] or len(parts) > 3:
            raise UserError(f"--systems: {text!r} is not SET:ALIGNMENT_SET:START_SET")
        return cls(*parts)

    def __str__(self) -> str:
        alignment = f" + {self.alignment}" if self.alignment else ""
        return f"{self.words}{alignment}{f' from {self.start}' if self.start else ''}"


@dataclasses.dataclass(frozen=True)
class Experiment:
    """The settings that all systems share.

    Attributes:
        recipe: for training from random weights.
        started: for training that starts from another model, without `warm_start_from`.
        search_hparams: options of decoding with an alignment model.
    """

    recipe: Recipe
    started: Recipe
    search_hparams: str

    def recipe_of(self, spec: Spec, seed: int) -> Recipe:
        """Return the recipe of the model that translates."""
        if not spec.start:
            return self.recipe
        made = dataclasses.replace(
            self.started,
            work_dir=self.recipe.work_dir / f"from_{spec.start}",
            warm_start_from=str(self.recipe.place(spec.start, seed, "-averaged")),
        )
        vars(made)["test"] = self.recipe.test  # the same files
        return made

    def finish(self, spec: Spec, seed: int) -> pathlib.Path:
        """Run all steps of a system; return its translation of the test set."""
        own = self.recipe_of(spec, seed)
        own.work_dir.mkdir(parents=True, exist_ok=True)
        for name in (spec.start, spec.alignment):
            if name:
                finish_training(self.recipe, name, seed)
        finish_training(own, spec.words, seed)
        evaluate(own, spec.words, seed)
        folders = [own.place(spec.words, seed, "-averaged")]
        options, flags = self.recipe.decode_hparams, []
        if spec.alignment:
            evaluate(self.recipe, spec.alignment, seed)
            folders.append(self.recipe.place(spec.alignment, seed, "-averaged"))
            flags.append(f"--alignment_model_dir={folders[1]}")
            options = ",".join(filter(None, [options, self.search_hparams]))
        made = own.place(f"{spec.words}{f'+{spec.alignment}' * bool(spec.alignment)}", seed)
        made = made.with_name(f"{made.name}.test.{own.loaded_problem().target_language}")
        flags += [f"--output_dir={folders[0]}", f"--data_dir={own.data_dir}"]
        flags += [f"--decode_hparams={options}", f"--decode_from_file={self.recipe.test.source}"]
        flags.append(f"--decode_to_file={made}")
        log = made.with_name(f"{made.name}.log")
        sources = [newest(folders), self.recipe.test.source]
        steps.make("decoder", flags, made=made, sources=sources, log=log)
        return made

    def row(
        self, spec: Spec, seed: int, made: pathlib.Path, baseline: pathlib.Path
    ) -> tuple[Row, list[str]]:
        """Return the row of a finished system, and the signatures of its scores."""
        from t2t_phrase.evaluation.scores import corpus_score
        from t2t_phrase.evaluation.significance import paired_bootstrap
        from t2t_phrase.io.text_files import read_text

        text, references = read_text(str(made)), self.recipe.test.references
        scores = [corpus_score(name, text, references, lowercase=True) for name in ("bleu", "ter")]
        p_value = None
        if made != baseline:
            other = read_text(str(baseline))
            p_value = paired_bootstrap(text, other, references, lowercase=True)[0].p_value
        own = self.recipe_of(spec, seed)
        parameters = checkpoints.count_weights(own.place(spec.words, seed, "-averaged"))
        jumps = positions = None
        if spec.alignment:
            parameters += checkpoints.count_weights(
                self.recipe.place(spec.alignment, seed, "-averaged")
            )
            jumps = perplexity(self.recipe, spec.alignment, seed)
            log = made.with_name(f"{made.name}.log")
            found = reported(log, r"([\d.]+) source positions evaluated")
            positions = float(found[0]) if found else None
        row = Row(
            str(spec),
            seed,
            parameters,
            scores[0].value,
            scores[1].value,
            p_value,
            perplexity(own, spec.words, seed),
            jumps,
            positions,
        )
        return row, [score.signature for score in scores]


def report(experiment: Experiment, rows: list[Row], signatures: list[str]) -> None:
    """Print and write the table."""
    recipe, started = experiment.recipe, experiment.started
    notes = [
        f"`{recipe.problem}`, {recipe.test.description}; BLEU `{signatures[0]}`, TER "
        f"`{signatures[1]}`.",
        f"{recipe.train_steps} updates (`{recipe.hparams or 'no overrides'}`), from a trained one "
        f"{started.train_steps} (`{started.hparams or 'no overrides'}`); average of the last "
        f"{recipe.num_last_checkpoints} checkpoints; `{recipe.decode_hparams}`, with an alignment "
        f"model also `{experiment.search_hparams}`.",
        "perplexity: of the development set, per token; models with an alignment head are given "
        "its alignments. p: of the difference in BLEU from the first system of the seed, by paired "
        "bootstrap. positions: source positions evaluated for each target token.",
    ]
    command = called("alignment_quality.py")
    text = "\n".join([markdown(rows), "", *notes, "", "```", command, "```", ""])
    content = {
        "recipe": {key: str(value) for key, value in dataclasses.asdict(recipe).items()},
        "started": {key: str(value) for key, value in dataclasses.asdict(started).items()},
        "search_hparams": experiment.search_hparams,
        "signatures": signatures,
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    write_report(recipe.work_dir, "table2", text, content)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = experiment_parser(__doc__ or "")
    parser.add_argument("--systems", required=True, help="comma-separated, the baseline first")
    parser.add_argument("--train_steps", type=int, required=True)
    parser.add_argument("--started_steps", type=int, default=0, help="default: --train_steps")
    parser.add_argument("--seeds", default="1234", help="comma-separated random seeds")
    parser.add_argument("--hparams", default="", help="overrides of every set")
    parser.add_argument("--started_hparams", default=None, help="default: --hparams")
    parser.add_argument("--num_last_checkpoints", type=int, default=5)
    parser.add_argument("--decode_hparams", default="beam_size=5")
    parser.add_argument(
        "--search_hparams",
        default="alignment_threshold=0.15,alignment_weight=1.0",
        help="further options with an alignment model; alignment_search.py chooses the weight",
    )
    parser.add_argument("--test_sentences", type=int, default=5000, help="of the grammar")
    return parser.parse_args(argv)


def main() -> int:
    args = parse()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    registry.discover()
    recipe = Recipe(
        problem=args.problem,
        data_dir=pathlib.Path(args.data_dir).expanduser(),
        work_dir=pathlib.Path(args.work_dir).expanduser(),
        train_steps=args.train_steps,
        hparams=args.hparams,
        num_last_checkpoints=args.num_last_checkpoints,
        decode_hparams=args.decode_hparams,
        test_sentences=args.test_sentences,
    )
    started = dataclasses.replace(
        recipe,
        train_steps=args.started_steps or args.train_steps,
        hparams=args.hparams if args.started_hparams is None else args.started_hparams,
    )
    specs = [Spec.parse(text) for text in args.systems.split(",")]
    # Mistakes should show before hours of training.
    recipe.check_checkpoints()
    if any(spec.start for spec in specs):
        started.check_checkpoints()
    recipe.loaded_problem().record_files(str(recipe.data_dir), "train")
    for spec in specs:
        for name in filter(None, (spec.words, spec.alignment, spec.start)):
            overrides = started if spec.start and name == spec.words else recipe
            hparams = registry.hparams[name]().override(overrides.hparams)
            recipe.loaded_problem().require_features(str(recipe.data_dir), hparams.features)
    recipe.work_dir.mkdir(parents=True, exist_ok=True)
    experiment = Experiment(recipe, started, args.search_hparams)
    rows, signatures, failed = [], [], []
    for seed in [int(seed) for seed in args.seeds.split(",")]:
        baseline = None
        for spec in specs:
            try:
                made = experiment.finish(spec, seed)
            except UserError as error:
                print(f"error: {error}", file=sys.stderr)
                failed.append(f"{spec} ({seed})")
                continue
            if spec == specs[0]:
                baseline = made
            row, signatures = experiment.row(spec, seed, made, baseline or made)
            rows.append(row)
            # After each system, because the next one may take hours.
            report(experiment, rows, signatures)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    run_script(main)
