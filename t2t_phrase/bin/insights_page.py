"""The page of t2t-phrase-insights: its flags and its content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import flags

from t2t_phrase.bin.insights_input import feature_texts_of_files, texts_of_features
from t2t_phrase.bin.model_flags import load_second
from t2t_phrase.config import UserError
from t2t_phrase.io.line_counts import check_one_to_one, counted
from t2t_phrase.io.reporting import Ticker, note

if TYPE_CHECKING:
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.features import Feature
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Vocabularies

FLAGS = flags.FLAGS


def define_page_flags() -> None:
    """Define the flags of the page."""
    flags.DEFINE_string(
        "html",
        None,
        "File for a page that explains the translations of --source, or of --insights_from_file.",
    )
    flags.DEFINE_string(
        "compare_output_dir",
        None,
        "With --html: run or checkpoint of a second model, which is shown beside the first; a list "
        "of them: an ensemble.",
    )
    flags.DEFINE_string(
        "alignment_model_dir",
        None,
        "With --html: run or checkpoint of an alignment model, which a model that reads "
        "alignments uses to translate.",
    )


def write_page_of(
    trained: TrainedModel, vocabularies: Vocabularies, hparams: DecodeHParams
) -> None:
    """Write --html.

    Raises:
        UserError: a model or a feature does not fit, or there is nothing to explain.
    """
    from t2t_phrase.api.alignment_search import searched
    from t2t_phrase.api.sentence_viewer import (
        check_translations,
        explained_model,
        reads_alignments,
        sentence_page,
    )
    from t2t_phrase.io.files import write
    from t2t_phrase.reports.page import size_text

    loaded = [(trained, vocabularies)]
    if FLAGS.compare_output_dir:
        loaded.append(load_second("compare_output_dir", FLAGS.compare_output_dir))
    path = FLAGS.alignment_model_dir
    if path and not any(reads_alignments(model) for model, _ in loaded):
        raise UserError(
            f"--alignment_model_dir={path}: no model here reads alignments; leave it out"
        )
    models = []
    for pair in loaded:
        used = None
        if path and reads_alignments(pair[0]):
            used = searched(*pair, hparams, path, dtype_policy=FLAGS.dtype_policy)
        models.append(
            explained_model(
                *pair, hparams, used=used, data_dir=FLAGS.data_dir, xla=FLAGS.xla_compile
            )
        )
    # With a file, --target is of the sentence that is drawn.
    explain_references = bool(FLAGS.target) and not FLAGS.insights_from_file
    needed: dict[Feature, None] = {}
    for model in models:
        explainer = model.explainer
        forced = explain_references or not explainer.translates
        needed.update(dict.fromkeys(explainer.needed_features(targets=forced)))
    sources, references = read_sentences()
    check_translations(models, references)
    if FLAGS.insights_from_file:
        texts = feature_texts_of_files(list(needed), sources, references)
    else:
        texts = texts_of_features(list(needed))
    with_words = [set(model.explainer.with_words(sources)) for model in models]
    kept = sorted(set.intersection(*with_words))
    if len(kept) < len(sources):
        note(f"left out: {counted(len(sources) - len(kept), 'line')} without words")
    page = sentence_page(
        models,
        [sources[i] for i in kept],
        None if references is None else [references[i] for i in kept],
        texts={name: [lines[i] for i in kept] for name, lines in texts.items()},
        explain_references=explain_references,
        progress=Ticker("explained", len(kept)),
    )
    write(FLAGS.html, page.html.encode())
    left_out = f", {page.left_out} left out: the page would be too large" if page.left_out else ""
    note(f"{counted(page.sentences, 'sentence')}{left_out}")
    note(f"{size_text(len(page.html.encode()))} written to {FLAGS.html}")


def read_sentences() -> tuple[Sequence[str], Sequence[str] | None]:
    """Return the sentences to explain, and their translations, if any are given.

    Raises:
        UserError: a file cannot be read, or the files have different numbers of lines.
    """
    from t2t_phrase.io.text_files import read_text

    if not FLAGS.insights_from_file:
        return [FLAGS.source], None if FLAGS.target is None else [FLAGS.target]
    sources = read_text(FLAGS.insights_from_file)
    if not FLAGS.references_file:
        return sources, None
    references = read_text(FLAGS.references_file)
    check_one_to_one(FLAGS.insights_from_file, len(sources), FLAGS.references_file, len(references))
    return sources, references
