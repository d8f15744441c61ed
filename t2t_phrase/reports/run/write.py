"""Writes the page of a run."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.features import of_side
from t2t_phrase.io.files import expanded
from t2t_phrase.reports.page import size_text, write_page
from t2t_phrase.reports.run.examples import Example, choose_examples
from t2t_phrase.reports.run.facts import Best, RunFacts, best_checkpoint, read_facts
from t2t_phrase.reports.run.page import run_page
from t2t_phrase.runs.commands import last_value
from t2t_phrase.runs.load_model import load_model
from t2t_phrase.runs.translations import BestTranslations
from t2t_phrase.runs.vocabulary import run_vocabularies

# Name of the page that training leaves in the folder of the run.
FILE = "report.html"
Log = Callable[[str], None]


def write_run_report(
    output_dir: str | os.PathLike[str],
    data_dir: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    translates: bool = True,
    log: Log = print,
) -> None:
    """Write the page of a run, which may still be in training.

    Args:
        output_dir: the run.
        data_dir: its data.
        path: of the page.
        translates: whether to translate the development set with the best checkpoint if the run
            does not record those translations.
        log: called with each line.

    Raises:
        UserError: the folder holds no run, or the page cannot be written.
    """
    facts = read_facts(output_dir, data_dir, log=log)
    reason = registry.models[facts.record.model].capabilities.cannot_translate
    if facts.translations is None and translates and not reason:
        facts = with_translations(facts, log=log)
    examples, without = ([], reason) if reason else examples_of(facts)
    html = run_page(facts, examples, without=without)
    write_page(path, html)
    log(f"written: {path} ({size_text(len(html.encode()))})")


def report_of_training(output_dir: str, data_dir: str, path: str, *, log: Log) -> None:
    """Write the page at the end of training; errors are only logged, as training has succeeded.

    Args:
        output_dir: the run.
        data_dir: its data.
        path: of the page; a relative path is resolved in `output_dir`.
        log: called with each line.
    """
    try:
        place = pathlib.Path(expanded(output_dir), expanded(path))
        write_run_report(output_dir, data_dir, place, translates=False, log=log)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        log(f"WARNING: the page {path} was not written: {reason}")


def examples_of(facts: RunFacts) -> tuple[list[Example], str]:
    """Return examples, or none and the reason."""
    if facts.translations is None:
        return [], "no translations of the development set are recorded"
    try:
        sources, _ = facts.problem.raw_text(str(facts.data_dir), "dev")
        references = facts.problem.raw_references(str(facts.data_dir), "dev")
    except UserError as error:
        return [], f"the development set cannot be read: {error}"
    if len(facts.translations.lines) != len(sources):
        return [], "the recorded translations belong to another development set"
    return choose_examples(sources, facts.translations.lines, references), ""


def with_translations(facts: RunFacts, *, log: Log) -> RunFacts:
    """Return the facts with the development set translated, if its text and a checkpoint exist.

    The options are the run's own `--decode_hparams`.

    Args:
        facts: of a run that records no translations.
        log: called with each line.

    Raises:
        UserError: the checkpoint or the vocabulary is damaged, the vocabulary is not that of the
            run, or a feature is missing.
    """
    data, checkpoint = str(facts.data_dir), best_checkpoint(facts.folder)
    try:
        sources, _ = facts.problem.raw_text(data, "dev")
        references = facts.problem.raw_references(data, "dev")
    except UserError as error:
        log(f"left out: {error}")
        return facts
    if checkpoint is None:
        return facts
    log(f"translating {len(sources)} sentences of the development set with {checkpoint}")
    trained = load_model(checkpoint)
    vocabularies = run_vocabularies(trained, data_dir=data)
    options = last_value(facts.commands, "decode_hparams")
    translator = Translator(trained.model, vocabularies, DecodeHParams().override(options))
    read = of_side(trained.model.hparams.features, "source")
    features = facts.problem.raw_features(data, "dev", read)
    found = translator.translate_encoded(translator.encode(sources, features))
    lines = tuple(beams[0].text for beams in found)
    bleu = corpus_bleu(lines, references, tokenize=facts.problem.bleu_tokenize)
    best = facts.best
    if best is None or best.step != trained.step or best.metric != "bleu":
        best = Best(trained.step, "bleu", bleu.value)
    return dataclasses.replace(
        facts,
        best=dataclasses.replace(best, signature=bleu.signature),
        translations=BestTranslations(trained.step, bleu.value, bleu.signature, lines),
    )
