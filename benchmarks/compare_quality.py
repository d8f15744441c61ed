"""Trains several hparams sets by one recipe and compares the quality of their translations.

    python benchmarks/compare_quality.py --problem=translate_ende_multi30k --data_dir=data \\
        --work_dir=runs/compare --train_steps=2000 --hparams=batch_size=2048 \\
        --sets=transformer_multi30k,phrase_heterogeneous_convkv_1_2_multi30k [--seeds=1234,1235]

The first set is the baseline with which the others are compared, seed by seed. Each step is one of
the commands, printed before it runs. Finished steps are not repeated, so the script can be
interrupted and restarted, also with more sets or seeds. It writes WORK_DIR/table.md and
WORK_DIR/table.json.

For --problem=translate_ende_grammar, the test set is larger (--test_sentences), and the table has
the accuracy on idioms, compounds and particle verbs. --by_length=10,15,20 adds BLEU by source
length, --ngrams=8 the precision of n-grams of order 1 to 8, --contrastive=grammar (or the JSON file
of LingEval97) contrastive accuracy by distance.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import sys

import quality_details
import quality_phenomena
import quality_table
from quality_report import experiment_parser, write_report
from quality_runs import Recipe, command_line, count_parameters, finish

from t2t_phrase import registry
from t2t_phrase.config import UserError


def read_translations(recipe: Recipe, done: list[tuple[str, int]]) -> dict[tuple, list[str]]:
    """Return the translated test set of each finished set and seed."""
    from t2t_phrase.io.text_files import read_text

    return {key: read_text(str(recipe.translation(*key))) for key in done}


def measure(
    recipe: Recipe, texts: dict[tuple, list[str]], baseline: str
) -> tuple[list[quality_table.Run], str]:
    """Score the finished runs, and compare each with the baseline of its seed.

    Returns:
        (the runs, the signature of their BLEU).
    """
    from t2t_phrase.evaluation.bleu import corpus_bleu
    from t2t_phrase.evaluation.significance import paired_bootstrap

    references = recipe.test.references
    runs, signature = [], ""
    for (name, seed), text in texts.items():
        score = corpus_bleu(text, references)
        signature, p_value = score.signature, None
        other = texts.get((baseline, seed))
        if name != baseline and other is not None:
            p_value = paired_bootstrap(text, other, references)[0].p_value
        parameters = count_parameters(recipe.place(name, seed, "-averaged"))
        runs.append(quality_table.Run(name, seed, parameters, score.value, p_value))
    return runs, signature


def details(
    recipe: Recipe, texts: dict[tuple, list[str]], baseline: str, boundaries: list[int], orders: int
) -> tuple[list[str], dict[str, object]]:
    """Return the additional tables that were requested, and their contents for JSON."""
    from t2t_phrase.io.text_files import read_text

    tables, found = [], {}
    if boundaries:
        sources = read_text(str(recipe.test.source))
        table, found["by_length"] = quality_details.by_length(
            texts, recipe.test.references, sources, boundaries
        )
        tables += ["", table]
    if orders:
        table, found["ngrams"] = quality_details.ngrams(
            texts, recipe.test.references, baseline, orders
        )
        tables += ["", table]
    if recipe.contrastive:
        files = {key: recipe.contrasts(*key) for key in texts}
        table, found["contrastive"] = quality_details.contrastive(files)
        tables += ["", table]
    return tables, found


def report(
    recipe: Recipe,
    done: list[tuple[str, int]],
    sets: list[str],
    boundaries: list[int],
    orders: int = 0,
) -> None:
    """Print and write the tables."""
    texts = read_translations(recipe, done)
    runs, signature = measure(recipe, texts, sets[0])
    table = quality_table.rows(runs, sets[0])
    phenomena = {}
    if recipe.test.facts is not None:
        from t2t_phrase.evaluation.phenomena import judge

        judged = {key: judge(text, recipe.test.facts) for key, text in texts.items()}
        phenomena = quality_phenomena.rows(judged, sets[0])
    seeds = list(dict.fromkeys(seed for _, seed in done))
    commands = [
        command_line(module, flags) for module, flags in recipe.commands("SET", "SEED").items()
    ]
    notes = [
        f"`{recipe.problem}`, {recipe.test.description}; BLEU `{signature}`.",
        f"{recipe.train_steps} updates, `{recipe.hparams or 'no overrides'}`; average of "
        f"the last {recipe.num_last_checkpoints} checkpoints, `{recipe.decode_hparams}`; "
        f"seeds {', '.join(map(str, seeds))}.",
    ]
    if len(table) > 1:
        notes.append(
            f"difference and p: compared with `{sets[0]}` of the same seed, p by paired bootstrap."
        )
    if any(row.spread is not None for row in table):
        notes.append("spread: standard deviation over the seeds.")
    if orders:
        notes.append(
            f"n-gram precision: of `{sets[0]}`, and the differences from it, means over the seeds; "
            "p for each seed."
        )
    if phenomena:
        first = phenomena[table[0].name]
        totals = ", ".join(f"{values['total']} {kind}s" for kind, values in first.items())
        notes.append(f"{totals}: accuracy; p by McNemar's exact test.")
    extra = quality_phenomena.columns(phenomena)
    tables, found = details(recipe, texts, sets[0], boundaries, orders)
    lines = [quality_table.markdown(table, extra), "", *notes, *tables]
    text = "\n".join([*lines, "", "```", *commands, "```", ""])
    content = {
        "recipe": {key: str(value) for key, value in dataclasses.asdict(recipe).items()},
        "seeds": seeds,
        "signature": signature,
        "commands": commands,
        "rows": quality_table.as_json(table),
        "phenomena": phenomena,
        **found,
    }
    write_report(recipe.work_dir, "table", text, content)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = experiment_parser(__doc__ or "")
    parser.add_argument(
        "--sets", required=True, help="comma-separated hparams sets, the baseline first"
    )
    parser.add_argument("--train_steps", type=int, required=True)
    parser.add_argument("--seeds", default="1234", help="comma-separated random seeds")
    parser.add_argument("--hparams", default="", help="overrides of every set, as for the trainer")
    parser.add_argument(
        "--num_last_checkpoints", type=int, default=5, help="checkpoints to average"
    )
    parser.add_argument("--decode_hparams", default="beam_size=5")
    parser.add_argument(
        "--test_sentences", type=int, default=5000, help="size of the grammar's test set"
    )
    parser.add_argument(
        "--by_length", default="", help="boundaries of source lengths in words: 10,15,20"
    )
    parser.add_argument("--ngrams", type=int, default=0, help="longest n-grams to count: 8")
    parser.add_argument("--contrastive", default="", help="grammar, or the JSON file of LingEval97")
    parser.add_argument(
        "--report_only", action="store_true", help="train nothing, report what is finished"
    )
    return parser.parse_args(argv)


def main() -> int:
    from t2t_phrase.evaluation.by_length import check_boundaries
    from t2t_phrase.evaluation.ngram_precision import check_orders

    args = parse()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    registry.discover()
    sets = args.sets.split(",")
    seeds = [int(seed) for seed in args.seeds.split(",")]
    recipe = Recipe(
        problem=args.problem,
        data_dir=pathlib.Path(args.data_dir).expanduser(),
        work_dir=pathlib.Path(args.work_dir).expanduser(),
        train_steps=args.train_steps,
        hparams=args.hparams,
        num_last_checkpoints=args.num_last_checkpoints,
        decode_hparams=args.decode_hparams,
        test_sentences=args.test_sentences,
        contrastive=args.contrastive,
    )
    boundaries = [int(n) for n in args.by_length.split(",") if n]
    # Before hours of training.
    if boundaries:
        check_boundaries(boundaries)
    if args.ngrams:
        check_orders(args.ngrams)
    recipe.loaded().record_files(str(recipe.data_dir), "train")
    for name in sets:
        registry.hparams[name]().override(args.hparams)
    recipe.work_dir.mkdir(parents=True, exist_ok=True)
    print(f"to translate: {recipe.test.source}, {recipe.test.description}")
    done, failed = [], []
    # Seeds in the outer loop, so that all sets can be compared after each.
    for seed in seeds:
        for name in sets:
            try:
                if finish(recipe, name, seed, train=not args.report_only):
                    done.append((name, seed))
                else:
                    print(f"not trained to step {recipe.train_steps} yet: {name}-{seed}")
            except UserError as error:
                print(f"error: {error}", file=sys.stderr)
                failed.append(f"{name}-{seed}")
    if done:
        done.sort(key=lambda run: (sets.index(run[0]), seeds.index(run[1])))
        report(recipe, done, sets, boundaries, args.ngrams)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed or not done else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as problem:
        sys.exit(f"error: {problem}")
