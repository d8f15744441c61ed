"""Translating and scoring files, for t2t-phrase-decoder."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from absl import flags

from t2t_phrase.bin import text_job
from t2t_phrase.bin.decoder import Ticker, load, note
from t2t_phrase.bin.source_features import FeatureReader, given_feature_files
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.resumable import Result
from t2t_phrase.decoding.windows import Window
from t2t_phrase.evaluation.text_files import count_lines, split_pair
from t2t_phrase.files import is_special, sha256_of

if TYPE_CHECKING:
    from t2t_phrase.runs.load_model import TrainedModel

FLAGS = flags.FLAGS


def translate(hparams: DecodeHParams) -> None:
    """Translate a file or standard input; the output has as many lines, in the same order."""
    from t2t_phrase.decoding.length_notes import length_notes
    from t2t_phrase.decoding.translator import NOTHING, Translator, format_hypotheses

    source, target = FLAGS.decode_from_file, FLAGS.decode_to_file or None
    # Mistakes in file names should show before the model is loaded.
    text_job.check_paths(target, [source, *given_feature_files().values()])
    total = count_lines(source)
    trained, vocabularies = load()
    if source and not target and not is_special(source):
        target = default_target(source, trained, hparams)
    translator = Translator(trained.model, vocabularies, hparams, xla=FLAGS.xla_compile)
    features = FeatureReader(translator.features, {"source": source})
    text_job.check_paths(target, [source, *features.files])
    text_job.check_counts(source, total, features.files)
    max_length = min(member.record.resolved().max_length for member in trained.members)

    def work(window: Window, done: set[int], number: int) -> Iterator[Result]:
        encoded = translator.encode(window.lines, features.texts(window, {"source": window.lines}))
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
            texts = [format_hypotheses(hypotheses, hparams) for hypotheses in found]
            yield Result(batch.lines, texts, sum(hypotheses[0].tokens for hypotheses in found))
        # Last, so that the first batch always has the same number.
        empty = [row for row, ids in enumerate(encoded.ids) if not ids and row not in done]
        if empty:
            yield Result(empty, [format_hypotheses([NOTHING], hparams)] * len(empty))

    start = time.monotonic()
    outcome = text_job.do(
        work,
        source=source,
        target=target,
        beside=features.files,
        settings=settings("translate", trained, hparams.to_dict()),
        ticker=Ticker("translated", total),
    )
    seconds = time.monotonic() - start
    kept = f" ({outcome.kept} of them by an earlier run)" if outcome.kept else ""
    note(
        f"{outcome.lines} sentences{kept}, {outcome.amount:.0f} target tokens in {seconds:.1f} s "
        f"({outcome.amount / max(seconds, 1e-9):.0f} tokens/s, compilation included) "
        f"written to {target or 'standard output'}"
    )


def score(hparams: DecodeHParams) -> None:
    """Write the negative log-probability of each pair in --score_file."""
    from t2t_phrase.decoding.scoring import Scorer

    source, target = FLAGS.score_file, FLAGS.decode_to_file or None
    text_job.check_paths(target, [source, *given_feature_files().values()])
    total = count_lines(source, lambda line, number: split_pair(line, source, number))
    trained, vocabularies = load()
    limit = hparams.max_input_size
    scorer = Scorer(
        trained.model,
        vocabularies,
        batch_size=hparams.batch_size,
        max_input_size=limit,
        xla=FLAGS.xla_compile,
    )
    features = FeatureReader(scorer.features, dict.fromkeys(("source", "target"), source))
    text_job.check_paths(target, [source, *features.files])
    text_job.check_counts(source, total, features.files)

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
            yield Result(batch.lines, [f"{-value:.6f}" for value in scores], -sum(scores))

    start = time.monotonic()
    outcome = text_job.do(
        work,
        source=source,
        target=target,
        beside=features.files,
        settings=settings("score", trained, {"max_input_size": limit}),
        ticker=Ticker("scored", total),
    )
    kept = f" ({outcome.kept} of them by an earlier run)" if outcome.kept else ""
    note(
        f"{outcome.lines} pairs{kept} scored in {time.monotonic() - start:.1f} s, "
        f"sum {outcome.total:.4f}, written to {target or 'standard output'}"
    )


def settings(task: str, trained: TrainedModel, options: dict[str, Any]) -> dict[str, Any]:
    """Return what the results of a task depend on, apart from its input."""
    if not options.get("sampling_temp"):
        # It only says what is computed together; who ran out of memory may lower it.
        options.pop("batch_size", None)
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
