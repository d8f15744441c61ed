"""The page of a run: settings, curves, the best checkpoint, translations and commands."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from t2t_phrase.reports.page import fitted, render
from t2t_phrase.reports.run.commands import repeating
from t2t_phrase.reports.run.curves import MOST_POINTS, curves_of, drawn, perplexity
from t2t_phrase.reports.run.examples import Example
from t2t_phrase.reports.run.facts import RunFacts
from t2t_phrase.reports.run.scalars import mean_tokens_per_second, seconds_of_updates

TEMPLATE = "run.html"
Row = tuple[str, str]


def run_page(facts: RunFacts, examples: Sequence[Example], *, without: str = "") -> str:
    """Return the page as HTML.

    Args:
        facts: of the run.
        examples: translations of the development set at the best checkpoint.
        without: the reason why there are no examples.

    Raises:
        UserError: the page is too large.
    """
    commands, notes = repeating(facts)
    curves = [drawn(curve) for curve in curves_of(facts)]

    def make(count: int) -> str:
        return render(
            TEMPLATE,
            facts=facts,
            summary=summary(facts),
            settings=settings(facts),
            hparams=sorted(facts.record.hparams.items()),
            curves=curves,
            evaluations=evaluations(facts),
            examples=examples[:count],
            left_out=len(examples) - count,
            without=without,
            commands=commands,
            notes=notes,
            made=time.strftime("%Y-%m-%d %H:%M"),
        )

    return fitted(make, len(examples))


def summary(facts: RunFacts) -> list[Row]:
    """Return the results of a run so far, by name."""
    rows = [("Updates", f"{facts.steps:,}")]
    if facts.best is not None:
        best = facts.best
        value = f"{best.value:.2f}" if best.metric == "bleu" else f"{best.value:.4f}"
        name = "BLEU" if best.metric == "bleu" else best.metric
        text = f"{name} {value} of the development set at update {best.step:,}"
        rows.append(("Best checkpoint", text))
        if best.metric == "bleu":
            rows.append(("Signature", best.signature or "not recorded"))
    if facts.parameters is not None:
        rows.append(("Parameters", f"{facts.parameters:,}"))
    if seconds := seconds_of_updates(facts.scalars):
        rows.append(("Time of the updates", f"{duration(seconds)}, without evaluations"))
    if speed := mean_tokens_per_second(facts.scalars):
        rows.append(("Throughput", f"{speed:,.0f} source and target tokens per second"))
    if facts.began:
        rows.append(("Started", facts.began))
    if facts.log:
        rows.append(("Last line of the log", facts.log[-1]))
    return rows


def settings(facts: RunFacts) -> list[Row]:
    """Return the model and the data, by name."""
    record, problem = facts.record, facts.problem
    rows = [
        ("Problem", f"{record.problem}, {problem.source_language} to {problem.target_language}"),
        ("Model", record.model),
        ("Hparams set", record.hparams_set),
        ("Changes to the set", record.overrides or "none"),
        ("Random seed", str(record.random_seed)),
        ("Parts of a batch", str(record.replicas)),
    ]
    for split, title in (("train", "Training data"), ("dev", "Development set")):
        if facts.manifest is not None and split in facts.manifest.splits:
            rows.append((title, _size(facts.manifest.splits[split], problem.reversed)))
    if record.target_vocab_size is None:
        rows.append(("Vocabulary", f"{record.vocab_size:,} entries, shared"))
    else:
        sizes = f"{record.vocab_size:,} and {record.target_vocab_size:,}"
        rows.append(("Vocabularies", f"{sizes} entries of source and target"))
    rows.append(("Version", f"t2t_phrase {record.version}"))
    return rows


def evaluations(facts: RunFacts) -> dict[str, Any]:
    """Return a table of the development scores: header, rows, and the number left out."""
    steps = sorted(facts.scores.scores)
    every = -(-len(steps) // MOST_POINTS) or 1
    # The last evaluation is always kept.
    shown = steps[(len(steps) - 1) % every :: every] if steps else []
    if facts.best is not None and facts.best.step in steps:
        shown = sorted({*shown, facts.best.step})
    names = list(dict.fromkeys(name for step in steps for name in facts.scores.scores[step]))
    names = [name for name in names if name != "neg_log_perplexity"]
    titles = {"nll": "perplexity", "bleu": "BLEU"}
    rows = []
    for step in shown:
        scores = facts.scores.scores[step]
        cells = [_score(name, scores[name]) if name in scores else "" for name in names]
        best = facts.best is not None and facts.best.step == step
        rows.append(([f"{step:,}", *cells], best))
    header = ["updates", *(titles.get(name, name) for name in names)]
    return {"header": header, "rows": rows, "left_out": len(steps) - len(shown)}


def duration(seconds: float) -> str:
    """Return "1 h 02 min", "2 min 05 s" or "7 s"."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600:,} h {whole // 60 % 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def _score(name: str, value: float) -> str:
    if name == "nll":
        return f"{perplexity(value):.3f}"
    if name.endswith("accuracy"):
        return f"{value:.2%}"
    return f"{value:.2f}" if name == "bleu" else f"{value:.4f}"


def _size(split: dict[str, Any], reversed_: bool) -> str:
    tokens = [
        sum(shard[f"{side}_tokens"] for shard in split["shards"] if shard)
        for side in ("source", "target")
    ]
    source, target = reversed(tokens) if reversed_ else tokens
    return f"{split['pairs']:,} pairs, {source:,} source and {target:,} target tokens"
