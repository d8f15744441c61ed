"""The table of Luong et al. (2015) in its order, for a problem of any size.

    python benchmarks/luong_table.py --problem=translate_ende_multi30k_words --data_dir=data \\
        --work_dir=runs/luong --train_steps=1000 --seeds=1,2 --size=multi30k \\
        --beside=transformer_multi30k_muon [--unknown_dictionary=words.tsv]

Trains, averages and translates as t2t-phrase-compare does, and reuses its finished runs in the same
folder. Each row is the mean over the seeds: BLEU, the perplexity of the development set under the
averaged model, the gain over the previous row, and the paper's BLEU on WMT'14. Unknown words are
replaced in the translations of the last trained row, if the problem has word-level vocabularies;
the ensemble has all seeds of that row, with unknown words replaced likewise. The sets of --beside
follow. Prints the table, and writes it to WORK_DIR/luong.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import statistics
from collections.abc import Sequence

from dev_perplexity import evaluate, perplexity
from experiment import experiment_parser
from script import run_script
from trained_runs import newest

from t2t_phrase import registry
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.recipe import Recipe
from t2t_phrase.comparison.runs import finish
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.scores import Score

# From the paper: a row's name, the set's name without its size, and BLEU.
ROWS = (
    ("base", "", 11.3),
    ("+ reverse", "reverse_", 12.6),
    ("+ dropout", "dropout_", 14.0),
    ("+ global attention (location)", "global_location_", 16.8),
    ("+ feed input", "feed_", 18.1),
    ("+ local-p attention (general)", "local_p_general_feed_", 19.0),
)
UNKNOWN, ENSEMBLE = ("+ unk replace", 20.9), ("ensemble of {} + unk replace", 23.0)


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        name: as printed.
        bleu: of each seed, or of the ensemble.
        perplexity: of each seed; empty: not measured.
        published: the paper's BLEU; None: it has no such row.
    """

    name: str
    bleu: Sequence[float]
    perplexity: Sequence[float] = ()
    published: float | None = None


def markdown(rows: Sequence[Row]) -> str:
    """Return the table; gains are over the previous row, among rows that the paper has."""
    lines = [
        "| system | BLEU | perplexity | gain | published | gain |",
        "|---|---|---|---|---|---|",
    ]
    before: Row | None = None
    for row in rows:
        mean = statistics.mean(row.bleu)
        cells = [row.name, f"{mean:.1f}"]
        cells.append(f"{statistics.mean(row.perplexity):.2f}" if row.perplexity else "")
        if row.published is None:
            cells += ["", "", ""]
        elif before is None:
            cells += ["", f"{row.published:.1f}", ""]
        else:
            assert before.published is not None
            gain, published = mean - statistics.mean(before.bleu), row.published - before.published
            cells += [f"{gain:+.1f}", f"{row.published:.1f}", f"{published:+.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
        before = before if row.published is None else row
    return "\n".join(lines)


def score(recipe: Recipe, path: pathlib.Path) -> Score:
    """Return the BLEU of a translated test set, and its signature."""
    from t2t_phrase.evaluation.bleu import corpus_bleu
    from t2t_phrase.io.text_files import read_text

    return corpus_bleu(read_text(str(path)), recipe.test.references)


def trained_row(recipe: Recipe, title: str, name: str, seeds: Sequence[int], bleu: object) -> Row:
    """Return the row of a set, which is trained if it is not yet."""
    for seed in seeds:
        finish(recipe, name, seed, train=True)
        evaluate(recipe, name, seed)
    return Row(
        title,
        [score(recipe, recipe.translation(name, seed)).value for seed in seeds],
        [perplexity(recipe, name, seed) for seed in seeds],
        bleu if isinstance(bleu, float) else None,
    )


def translated(recipe: Recipe, name: str, seeds: Sequence[int], options: str, more: list[str]):
    """Return the BLEU of one run, or of an ensemble of several, with other options of decoding."""
    runs = [recipe.place(name, seed, "-averaged") for seed in seeds]
    ending = "ensemble" if len(seeds) > 1 else f"{seeds[0]}-replaced"
    made = recipe.place(name, ending, f".test.{recipe.loaded_problem().target_language}")
    flags = [
        f"--output_dir={','.join(map(str, runs))}",
        f"--data_dir={recipe.data_dir}",
        f"--decode_hparams={options}",
        f"--decode_from_file={recipe.test.source}",
        f"--decode_to_file={made}",
        *more,
    ]
    log = recipe.place(name, ending, ".log")
    sources = [newest(runs), recipe.test.source]
    steps.make("decoder", flags, made=made, sources=sources, log=log)
    return score(recipe, made).value


def replaces_unknown(recipe: Recipe) -> bool:
    """Return whether the problem's target vocabulary consists of words."""
    from t2t_phrase.text.words.encoder import WordEncoder

    return isinstance(
        recipe.loaded_problem().vocabularies(str(recipe.data_dir)).target, WordEncoder
    )


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = experiment_parser(__doc__ or "")
    parser.add_argument("--train_steps", type=int, required=True)
    parser.add_argument("--seeds", default="1,2", help="comma-separated random seeds")
    parser.add_argument("--size", default="multi30k", help="multi30k, demo or base")
    parser.add_argument("--beside", default="", help="comma-separated further sets")
    parser.add_argument("--hparams", default="", help="overrides of every set")
    parser.add_argument("--decode_hparams", default="beam_size=5")
    parser.add_argument("--num_last_checkpoints", type=int, default=5, help="to average")
    parser.add_argument("--unknown_dictionary", default="", help="as for t2t-phrase-decoder")
    return parser.parse_args(argv)


def set_name(part: str, size: str) -> str:
    """Return the name of a row's set: `luong_reverse_multi30k`, but `luong_base_reverse`."""
    name = f"luong_base_{part}" if size == "base" else f"luong_{part}{size}"
    return name.removesuffix("_")


def main() -> None:
    """Make the table."""
    args = parse()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    registry.discover()
    seeds = [int(seed) for seed in args.seeds.split(",")]
    recipe = Recipe(
        problem=args.problem,
        data_dir=pathlib.Path(args.data_dir).expanduser(),
        work_dir=pathlib.Path(args.work_dir).expanduser(),
        train_steps=args.train_steps,
        hparams=args.hparams,
        num_last_checkpoints=args.num_last_checkpoints,
        decode_hparams=args.decode_hparams,
        test_sentences=5000,
        contrastive="",
    )
    beside = [*filter(None, args.beside.split(","))]
    # Mistakes should show before hours of training.
    recipe.check_checkpoints()
    for name in [*(set_name(part, args.size) for _, part, _ in ROWS), *beside]:
        hparams = registry.hparams[name]().override(args.hparams)
        recipe.loaded_problem().require_features(str(recipe.data_dir), hparams.features)
    if args.unknown_dictionary and not os.path.isfile(args.unknown_dictionary):
        raise UserError(f"--unknown_dictionary={args.unknown_dictionary} does not exist")
    recipe.work_dir.mkdir(parents=True, exist_ok=True)
    table = [
        trained_row(recipe, title, set_name(part, args.size), seeds, bleu)
        for title, part, bleu in ROWS
    ]
    last = set_name(ROWS[-1][1], args.size)
    options, more, words = args.decode_hparams, [], replaces_unknown(recipe)
    if words:
        options = ",".join(filter(None, (options, "replace_unknown=true")))
        more = [f"--unknown_dictionary={args.unknown_dictionary}"] * bool(args.unknown_dictionary)
        bleu = [translated(recipe, last, [seed], options, more) for seed in seeds]
        table.append(Row(UNKNOWN[0], bleu, published=UNKNOWN[1]))
    if len(seeds) > 1:
        title = ENSEMBLE[0] if words else ENSEMBLE[0].removesuffix(" + unk replace")
        bleu = [translated(recipe, last, seeds, options, more)]
        table.append(Row(title.format(len(seeds)), bleu, published=ENSEMBLE[1]))
    for name in beside:
        table.append(trained_row(recipe, name, name, seeds, None))
    signature = score(recipe, recipe.translation(last, seeds[0])).signature
    text = f"{markdown(table)}\n\nBLEU `{signature}`; {recipe.test.description}"
    (recipe.work_dir / "luong.md").write_text(f"{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    run_script(main)
