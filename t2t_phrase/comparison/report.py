"""Tables of the finished runs of a comparison, in Markdown and JSON."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

from t2t_phrase.comparison import details, phenomena
from t2t_phrase.comparison import table as tables
from t2t_phrase.comparison.recipe import Recipe
from t2t_phrase.comparison.scoring import Scoring
from t2t_phrase.comparison.steps import command_line
from t2t_phrase.evaluation.phenomena import judge
from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value
from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.io.files import write
from t2t_phrase.io.text_files import read_text
from t2t_phrase.runs import checkpoints

Texts = dict[tuple[str, int], list[str]]


def _read_translations(recipe: Recipe, done: list[tuple[str, int]]) -> Texts:
    """Return the translations of each finished set and seed."""
    return {key: read_text(str(recipe.translation(*key))) for key in done}


def _measure(
    recipe: Recipe, texts: Texts, scoring: Scoring, baseline: str
) -> tuple[list[tables.Row], list[str]]:
    """Score the finished runs, and compare each set with the baseline.

    Returns:
        (a row for each set, a line for each metric with its signature).
    """
    references = recipe.test.references
    made, metrics, signatures = [], {}, {}
    for (name, seed), text in texts.items():
        scores = {}
        for metric in scoring.metrics:
            score = corpus_score(
                metric, text, references, tokenize=scoring.tokenize, lowercase=scoring.lowercase
            )
            scores[score.name] = score.value
            metrics[score.name], signatures[score.name] = metric, score.signature
        parameters = checkpoints.count_weights(recipe.place(name, seed, "-averaged"))
        made.append(tables.Run(name, seed, parameters, scores))

    def p_value(metric: str, name: str, seeds: list[int]) -> float | None:
        ours, others = ([texts[own, seed] for seed in seeds] for own in (name, baseline))
        return pooled_p_value(
            ours,
            others,
            references,
            metric=metrics[metric],
            tokenize=scoring.tokenize,
            lowercase=scoring.lowercase,
        )

    lines = [f"{metric} `{signature}`" for metric, signature in signatures.items()]
    return tables.rows(made, baseline, p_value), lines


def _details(
    recipe: Recipe,
    texts: Texts,
    scoring: Scoring,
    baseline: str,
    boundaries: list[int],
    orders: int,
) -> tuple[list[str], dict[str, object]]:
    """Return the additional tables that were requested, and their contents for JSON."""
    made: list[str] = []
    found: dict[str, object] = {}
    if boundaries:
        sources = read_text(str(recipe.test.source))
        table, found["by_length"] = details.by_length(
            texts, recipe.test.references, sources, boundaries, scoring
        )
        made += ["", table]
    if orders:
        table, found["ngrams"] = details.ngrams(
            texts, recipe.test.references, baseline, orders, scoring
        )
        made += ["", table]
    if recipe.contrastive:
        files = {key: recipe.contrasts(*key) for key in texts}
        table, found["contrastive"] = details.contrastive(files)
        made += ["", table]
    return made, found


def report(
    recipe: Recipe,
    done: list[tuple[str, int]],
    sets: list[str],
    boundaries: list[int],
    orders: int,
    scoring: Scoring,
) -> None:
    """Print and write the tables."""
    texts = _read_translations(recipe, done)
    table, signatures = _measure(recipe, texts, scoring, sets[0])
    kinds: dict[str, Any] = {}
    if recipe.test.facts is not None:
        judged = {key: judge(text, recipe.test.facts) for key, text in texts.items()}
        kinds = phenomena.rows(judged, sets[0])
    seeds = list(dict.fromkeys(seed for _, seed in done))
    commands = [
        command_line(module, flags) for module, flags in recipe.commands("SET", "SEED").items()
    ]
    notes = [
        f"`{recipe.problem}`, {recipe.test.description}; {', '.join(signatures)}.",
        f"{recipe.train_steps} updates, `{recipe.hparams or 'no overrides'}`; average of "
        f"the last {recipe.num_last_checkpoints} checkpoints, `{recipe.decode_hparams}`; "
        f"seeds {', '.join(map(str, seeds))}.",
    ]
    if any(":" in row.name for row in table):
        notes.append("`SET:FIELD=VALUE`: the set with this change besides those of all sets.")
    if len(table) > 1:
        notes.append(
            f"difference and p: compared with `{sets[0]}` of the same seeds, p by paired bootstrap "
            "over all of them."
        )
    if len(seeds) > 1:
        notes.append("mean ± standard deviation over the seeds.")
    if orders:
        notes.append(
            f"n-gram precision: of `{sets[0]}`, and the differences from it, means over the seeds; "
            "p for each seed."
        )
    if kinds:
        first = kinds[table[0].name]
        totals = ", ".join(f"{values['total']} {kind}s" for kind, values in first.items())
        notes.append(f"{totals}: accuracy; p by McNemar's exact test.")
    extra = phenomena.columns(kinds)
    further, found = _details(recipe, texts, scoring, sets[0], boundaries, orders)
    lines = [tables.markdown(table, extra), "", *notes, *further]
    text = "\n".join([*lines, "", "```", *commands, "```", ""])
    content = {
        "recipe": {key: str(value) for key, value in dataclasses.asdict(recipe).items()},
        "seeds": seeds,
        "signatures": signatures,
        "commands": commands,
        "rows": tables.as_json(table),
        "phenomena": kinds,
        **found,
    }
    write_report(recipe.work_dir, table_name(recipe), text, content)


def table_name(recipe: Recipe) -> str:
    """Return the name of the table's files without their endings."""
    return "table" if recipe.split == "test" else f"table_{recipe.split}"


def write_report(work_dir: pathlib.Path, name: str, text: str, content: dict[str, Any]) -> None:
    """Print a table; write it to `name`.md, and its content to `name`.json.

    Raises:
        WriteError: the disk is full, or a file is not writable.
    """
    print(f"\n{text}", flush=True)
    write(work_dir / f"{name}.md", text)
    write(work_dir / f"{name}.json", json.dumps(content, indent=2) + "\n")
    print(f"written to {work_dir / name}.md and {name}.json")
