"""Translating and scoring files, for t2t-phrase-decoder."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from absl import flags

from t2t_phrase.bin import text_job
from t2t_phrase.bin.alignment_search import OPTIONS, searched
from t2t_phrase.bin.decode_dictionaries import (
    NAMES,
    given_dictionaries,
    refuse_dictionaries,
    summary,
)
from t2t_phrase.bin.model_flags import load
from t2t_phrase.bin.reporting import Ticker, note
from t2t_phrase.bin.source_features import FeatureReader, given_feature_files
from t2t_phrase.bin.unknown_words import NAME as UNKNOWN_DICTIONARY
from t2t_phrase.bin.unknown_words import given_unknown
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.features import ALIGN
from t2t_phrase.io.files import is_special, sha256_of
from t2t_phrase.io.line_windows import Window
from t2t_phrase.io.resumable import Result
from t2t_phrase.io.text_files import count_lines, split_pair
from t2t_phrase.text.alignments.pharaoh import write_links

if TYPE_CHECKING:
    from t2t_phrase.runs.load_model import TrainedModel

FLAGS = flags.FLAGS
# The options of decoding that only alignments depend on.
LINKS = ("write_alignments", "alignment_layers", "alignment_heads")


def translate(hparams: DecodeHParams) -> None:
    """Translate a file or standard input; the output has as many lines, in the same order."""
    from t2t_phrase.cores import divide_cores
    from t2t_phrase.decoding.length_notes import length_notes
    from t2t_phrase.decoding.translator import NOTHING, Translator, format_hypotheses, format_links

    source, target = FLAGS.decode_from_file, FLAGS.decode_to_file or None
    # Mistakes in file names should show before the model is loaded.
    text_job.check_paths(target, inputs(source))
    if target or not source:
        further_outputs(hparams, target, source)
    given, unknown = given_dictionaries(), given_unknown(hparams)
    check_alignment_options(hparams, used=bool(given.files))
    total = count_lines(source)
    given.check_sentences(source, total)
    # Sampling has one part. XLA runs one program at a time, which uses all cores.
    workers = 1 if hparams.sampling_temp or FLAGS.xla_compile else divide_cores(total)
    trained, vocabularies = load()
    if source and not target and not is_special(source):
        target = default_target(source, trained, hparams)
    used = searched(trained, vocabularies, hparams)
    endings = further_outputs(hparams, target, source)
    translator = Translator(
        used.model,
        vocabularies,
        hparams,
        dictionary=given.encoded(vocabularies),
        unknown_words=unknown.words,
        make_expansion=used.make_expansion,
        xla=FLAGS.xla_compile,
        workers=workers,
    )
    features = FeatureReader(translator.features, {"source": source})
    text_job.check_paths(target, [*inputs(source), *features.files])
    text_job.check_counts(source, total, features.files)
    max_length = min(member.record.resolved().max_length for member in trained.members)
    # Of what is translated now: target tokens, and the positions that they were evaluated at.
    tokens = positions = 0

    def work(window: Window, done: set[int], number: int) -> Iterator[Result]:
        nonlocal tokens, positions
        texts = features.texts(window, {"source": window.lines})
        encoded = translator.encode(window.lines, texts, given.of_window(window))
        for sentence in length_notes(
            encoded,
            max_input_size=hparams.max_input_size,
            max_length=max_length,
            first=window.first,
        ):
            note(sentence)
        for batch, found in translator.batches(
            encoded, done=done, number=number, first=window.first
        ):
            best = [hypotheses[0] for hypotheses in found]
            written = sum(hypothesis.tokens for hypothesis in best)
            tokens += written
            positions += sum(hypothesis.positions for hypothesis in best)
            links = [format_links(hypotheses) for hypotheses in found]
            counts = unknown.counts(best)
            if encoded.entries:
                counts["matched"] = sum(len(encoded.entries[i].tokens) for i in batch.lines)
                counts["applied"] = sum(hypothesis.entries for hypothesis in best)
            yield Result(
                batch.lines,
                [format_hypotheses(hypotheses, hparams) for hypotheses in found],
                written,
                {ending: links for ending in endings},
                counts,
            )
        # Last, so that the first batch always has the same number.
        empty = [row for row, ids in enumerate(encoded.ids) if not ids and row not in done]
        if empty:
            nothing = [format_hypotheses([NOTHING], hparams)] * len(empty)
            yield Result(empty, nothing, 0.0, {ending: [""] * len(empty) for ending in endings})

    options = {**hparams.to_dict(), **used.settings()}
    if used.second is None:
        for name in OPTIONS:
            del options[name]
    start = time.monotonic()
    outcome = text_job.do(
        work,
        source=source,
        target=target,
        beside=features.files,
        settings={
            **settings(
                "translate",
                trained,
                options,
                aligns=hparams.aligns or bool(given.files),
            ),
            **given.settings,
            **unknown.settings,
        },
        ticker=Ticker("translated", total),
        endings=endings,
    )
    seconds = time.monotonic() - start
    kept = f" ({outcome.kept} of them by an earlier run)" if outcome.kept else ""
    parts = f"{workers} parts of a batch at a time; " if workers > 1 else ""
    note(
        f"{outcome.lines} sentences{kept}, {outcome.amount:.0f} target tokens in {seconds:.1f} s "
        f"({outcome.amount / max(seconds, 1e-9):.0f} tokens/s; {parts}"
        f"shapes of batches compiled: {len(translator.shapes)}) "
        f"written to {target or 'standard output'}"
    )
    if used.second is not None and tokens:
        note(
            f"{positions / tokens:.2f} source positions evaluated for each target token "
            f"(alignment_threshold={hparams.alignment_threshold})"
        )
    if given.files:
        note(summary(outcome.counts, given, outcome.lines))
    if unknown.wanted:
        note(unknown.summary(outcome.counts))


def score(hparams: DecodeHParams) -> None:
    """Write the negative log-probability of each pair in --score_file.

    With an alignment model, it is that of the pair with its best source positions.
    """
    from t2t_phrase.decoding.scoring import Scorer
    from t2t_phrase.decoding.search.source_attention import source_attention

    refuse_dictionaries("score_file", [*NAMES, UNKNOWN_DICTIONARY])
    if hparams.replace_unknown:
        raise UserError("replace_unknown=true: cannot be used with --score_file; leave it out")
    check_alignment_options(hparams, used=False)
    source, target = FLAGS.score_file, FLAGS.decode_to_file or None
    text_job.check_paths(target, inputs(source))
    total = count_lines(source, lambda line, number: split_pair(line, source, number))
    endings = further_outputs(hparams, target, source)
    trained, vocabularies = load()
    used = None
    if FLAGS.alignment_model_dir:
        used = searched(trained, vocabularies, hparams)
    limit = hparams.max_input_size
    choice = None
    if hparams.write_alignments and used is None:
        choice = source_attention(
            trained.model, layers=hparams.alignment_layers, heads=hparams.alignment_heads
        )
    scorer = Scorer(
        trained.model if used is None else used.model,
        vocabularies,
        batch_size=hparams.batch_size,
        max_input_size=limit,
        attention=choice,
        search=None if used is None else used.forced_search(hparams),
        xla=FLAGS.xla_compile,
    )
    features = FeatureReader(scorer.features, dict.fromkeys(("source", "target"), source))
    text_job.check_paths(target, [source, *features.files])
    text_job.check_counts(source, total, features.files)

    links = {name: value for name, value in hparams.to_dict().items() if name in LINKS}
    options = {"max_input_size": limit, **links}
    if used is not None:
        options |= {name: getattr(hparams, name) for name in ("beam_size", *OPTIONS)}
        options |= used.settings()

    def work(window: Window, done: set[int], number: int) -> Iterator[Result]:
        del number
        pairs = [
            split_pair(line, source, window.first + i)
            for i, line in enumerate(window.lines, start=1)
        ]
        sides = {"source": [pair[0] for pair in pairs], "target": [pair[1] for pair in pairs]}
        encoded = scorer.encode(pairs, features.texts(window, sides))
        for row in sorted({*encoded[0].cut, *encoded[1].cut}):
            source_length, target_length = (side.lengths[row] for side in encoded)
            note(
                f"{source}:{window.first + row + 1}: {source_length} source and {target_length} "
                f"target tokens; the score is that of the first {limit} (max_input_size)"
            )
        for batch, scores in scorer.batches(*encoded, done=done, first=window.first):
            links = [write_links(found.links) for found in scores]
            yield Result(
                batch.lines,
                [f"{-found.log_probability:.6f}" for found in scores],
                -sum(found.log_probability for found in scores),
                {ending: links for ending in endings},
            )

    start = time.monotonic()
    outcome = text_job.do(
        work,
        source=source,
        target=target,
        beside=features.files,
        settings=settings("score", trained, options, aligns=hparams.write_alignments),
        ticker=Ticker("scored", total),
        endings=endings,
    )
    kept = f" ({outcome.kept} of them by an earlier run)" if outcome.kept else ""
    note(
        f"{outcome.lines} pairs{kept} scored in {time.monotonic() - start:.1f} s, "
        f"sum {outcome.total:.4f}, written to {target or 'standard output'}"
    )


def further_outputs(hparams: DecodeHParams, target: str | None, source: str | None) -> list[str]:
    """Return the endings of the files that are written next to the output.

    Raises:
        UserError: the output is not a regular file.
    """
    if not hparams.write_alignments:
        return []
    text_job.check_beside(target, ALIGN, inputs(source), "write_alignments=true")
    return [ALIGN]


def inputs(source: str | None) -> list[str | None]:
    """Return the files that flags name as inputs."""
    dictionaries = (FLAGS[name].value for name in (*NAMES, UNKNOWN_DICTIONARY))
    return [source, *given_feature_files().values(), *filter(None, dictionaries)]


def check_alignment_options(hparams: DecodeHParams, *, used: bool) -> None:
    """Refuse layers and heads of alignments that nothing needs.

    Args:
        hparams: the options.
        used: whether something else than the options needs alignments.

    Raises:
        UserError: the options are given and not needed.
    """
    for name in ("alignment_layers", "alignment_heads"):
        if getattr(hparams, name) and not (used or hparams.aligns):
            raise UserError(
                f"{name}={list(getattr(hparams, name))}: is only used with write_alignments=true, "
                "replace_unknown=true or a dictionary"
            )


def settings(
    task: str, trained: TrainedModel, options: dict[str, Any], *, aligns: bool
) -> dict[str, Any]:
    """Return the settings that the results of a task depend on, apart from its input."""
    if not options.get("sampling_temp"):
        # It only says what is computed together; who ran out of memory may lower it.
        options.pop("batch_size", None)
    if not aligns:
        options = {name: value for name, value in options.items() if name not in LINKS}
    if FLAGS.parser:
        options = {**options, "parser": FLAGS.parser, "language": FLAGS.language}
    return {
        "task": task,
        "checkpoint": ", ".join(
            f"{pathlib.Path(member.checkpoint).name} (step {member.step})"
            for member in trained.members
        ),
        # The index has the checksums of all weights.
        "weights": ", ".join(
            sha256_of(f"{member.checkpoint}.index")[:16] for member in trained.members
        ),
        **ensemble_settings(),
        **({"dtype_policy": FLAGS.dtype_policy} if FLAGS.dtype_policy else {}),
        "xla_compile": FLAGS.xla_compile,
        **options,
    }


def ensemble_settings() -> dict[str, Any]:
    """Return the weights of an ensemble, if any are given."""
    weights = FLAGS.ensemble_weights
    return {"ensemble_weights": ",".join(weights)} if weights else {}


def default_target(source: str, trained: TrainedModel, hparams: DecodeHParams) -> str:
    """Return the file name that tensor2tensor would give to the translations of a file."""
    record = trained.record
    names = (record.model, record.hparams_set, record.problem)
    if len(trained.members) > 1:
        names = ("ensemble", f"{len(trained.members)}_models", record.problem)
    named = ".".join(filter(None, names))
    return f"{source}.{named}.beam{hparams.beam_size}.alpha{hparams.alpha}.decodes"
