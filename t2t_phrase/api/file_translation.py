"""Translating a file, or standard input, line by line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from t2t_phrase.api.alignment_search import OPTIONS, Searched, searched
from t2t_phrase.api.text_files import Beside, check_alignment_options
from t2t_phrase.cores import divide_cores
from t2t_phrase.decoding.dictionary_files import missing_notes, read_dictionaries, summary
from t2t_phrase.decoding.feature_files import FeatureReader
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import NOTHING, Hypothesis, format_hypotheses, format_links
from t2t_phrase.decoding.length_notes import length_notes
from t2t_phrase.decoding.lexicon_files import read_lexicon
from t2t_phrase.decoding.n_best_json import to_json
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.decoding.unknown_files import read_unknown
from t2t_phrase.io import text_job
from t2t_phrase.io.files import is_special
from t2t_phrase.io.line_windows import Window
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.io.resumable import Result
from t2t_phrase.io.text_files import count_lines
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.text.vocabularies import Vocabularies


class FileTranslation:
    """The translation of a text: one output line for each input line, in the same order.

    Args:
        hparams: the decoding options.
        source: a file; None: standard input.
        target: a file; None: one named after the source and the model, or standard output if
            there is no source.
        beside: further files and options.
        report: called with messages and summaries; default: writes them to standard error.

    Raises:
        UserError: a file cannot be read or written, or an option has no effect. All faults that
            can be found without the model are found here.
    """

    def __init__(
        self,
        hparams: DecodeHParams,
        *,
        source: str | None,
        target: str | None,
        beside: Beside,
        report: Callable[[str], None] = note,
    ) -> None:
        self._json = beside.n_best_format == "json"
        if self._json:
            hparams = hparams.replace(token_probabilities=True)
        self._hparams, self._source, self._target = hparams, source, target
        self._beside, self._report = beside, report
        text_job.check_paths(target, beside.inputs(source))
        if target or not source:
            beside.endings(hparams, source, target)
        beside.check_lexicon()
        self._given = read_dictionaries(
            beside.dictionary, beside.sentence_dictionary, beside.dictionary_mode
        )
        self._unknown = read_unknown(hparams, beside.unknown_dictionary)
        self._lexicon = read_lexicon(hparams, beside.lexicon_file)
        check_alignment_options(hparams, used=self._given.aligns)
        self._total = count_lines(source)
        self._given.check_sentences(source, self._total)
        # Sampling is not divided. XLA runs one program at a time, which uses all cores.
        alone = hparams.sampling_temp or beside.xla
        self._workers = 1 if alone else divide_cores(self._total)
        # Counts of this run: target tokens, and the source positions evaluated for them.
        self._tokens = self._positions = 0

    def run(self, trained: TrainedModel, vocabularies: Vocabularies) -> text_job.Outcome:
        """Translate the lines that no earlier run has translated.

        Args:
            trained: the model, or an ensemble.
            vocabularies: its source and target vocabularies.

        Raises:
            UserError: the text does not fit the model, or something cannot be read or written.
        """
        hparams, source, beside, given = self._hparams, self._source, self._beside, self._given
        target = self._target
        if source and not target and not is_special(source):
            target = default_target(source, trained, hparams)
        used = searched(
            trained,
            vocabularies,
            hparams,
            beside.alignment_model_dir,
            dtype_policy=beside.settings.get("dtype_policy"),
        )
        endings = beside.endings(hparams, source, target)
        translator = Translator(
            used.model,
            vocabularies,
            hparams,
            dictionary=given.encoded(vocabularies),
            unknown_words=self._unknown.words,
            make_expansion=used.make_expansion,
            xla=beside.xla,
            workers=self._workers,
        )
        shortlister = self._lexicon.shortlister(vocabularies, hparams)
        features = FeatureReader(
            translator.features, {"source": source}, beside.feature_files, beside.parser
        )
        files = [*features.files, *filter(None, [beside.prefix_file])]
        text_job.check_paths(target, [*beside.inputs(source), *features.files])
        text_job.check_counts(source, self._total, files)
        max_length = min(member.record.resolved().max_length for member in trained.members)

        def work(window: Window, done: set[int], number: int) -> Iterator[Result]:
            texts = features.texts(window, {"source": window.lines})
            encoded = translator.encode(window.lines, texts, given.of_window(window))
            prefixes = window.beside.get(beside.prefix_file, ())
            encoded = translator.with_prefixes(
                encoded, prefixes, name=beside.prefix_file, first=window.first
            )
            if shortlister is not None:
                encoded = shortlister.propose(encoded, window.lines)
            for sentence in length_notes(
                encoded,
                max_input_size=hparams.max_input_size,
                max_length=max_length,
                first=window.first,
            ):
                self._report(sentence)
            for batch, found in translator.batches(
                encoded, done=done, number=number, first=window.first
            ):
                best = [hypotheses[0] for hypotheses in found]
                written = sum(hypothesis.tokens for hypothesis in best)
                self._tokens += written
                self._positions += sum(hypothesis.positions for hypothesis in best)
                links = [format_links(hypotheses) for hypotheses in found]
                counts = self._unknown.counts(best)
                if encoded.entries:
                    counts["matched"] = sum(encoded.entries[i].matched for i in batch.lines)
                    counts["applied"] = sum(hypothesis.entries for hypothesis in best)
                for sentence in missing_notes(batch.lines, best, first=window.first):
                    self._report(sentence)
                yield Result(
                    batch.lines,
                    [self._line(hypotheses) for hypotheses in found],
                    written,
                    {ending: links for ending in endings},
                    counts,
                )
            # Empty lines come last, so that the first batch always has the same number.
            empty = [row for row, ids in enumerate(encoded.ids) if not ids and row not in done]
            if empty:
                nothing = [self._line([NOTHING])] * len(empty)
                yield Result(empty, nothing, 0.0, {ending: [""] * len(empty) for ending in endings})

        start = time.monotonic()
        outcome = text_job.do(
            work,
            source=source,
            target=target,
            beside=files,
            settings=self._settings(trained, used),
            ticker=Ticker("translated", self._total, bar=target is not None),
            endings=endings,
        )
        parts = f"each batch in up to {self._workers} parts; " if self._workers > 1 else ""
        self._summarize(
            outcome,
            f"{parts}batch shapes compiled: {len(translator.shapes)}",
            time.monotonic() - start,
            target,
        )
        if used.second is not None and self._tokens:
            self._report(
                f"{self._positions / self._tokens:.2f} source positions evaluated for each target "
                f"token (alignment_threshold={hparams.alignment_threshold})"
            )
        return outcome

    def _line(self, hypotheses: Sequence[Hypothesis]) -> str:
        if self._json:
            return to_json(hypotheses, self._hparams, dictionary=bool(self._given.files))
        return format_hypotheses(hypotheses, self._hparams)

    def _settings(self, trained: TrainedModel, used: Searched) -> dict[str, object]:
        options = {**self._hparams.to_dict(), **used.settings()}
        if used.second is None:
            for name in OPTIONS:
                del options[name]
        aligns = bool(self._hparams.aligns or self._hparams.coverage_penalty or self._given.aligns)
        return {
            **self._beside.all_settings("translate", trained, options, aligns=aligns),
            **self._given.settings,
            **self._unknown.settings,
            **self._lexicon.settings,
            **({"prefixes": True} if self._beside.prefix_file else {}),
            "n_best_format": self._beside.n_best_format,
        }

    def _summarize(
        self, outcome: text_job.Outcome, how: str, seconds: float, target: str | None
    ) -> None:
        kept = f" ({outcome.kept} of them by an earlier run)" if outcome.kept else ""
        self._report(
            f"{outcome.lines} sentences{kept}, {outcome.amount:.0f} target tokens in "
            f"{seconds:.1f} s ({outcome.amount / max(seconds, 1e-9):.0f} tokens/s; {how}) "
            f"written to {target or 'standard output'}"
        )
        if self._given.files:
            self._report(summary(outcome.counts, self._given, outcome.lines))
        if self._unknown.wanted:
            self._report(self._unknown.summary(outcome.counts))


def default_target(source: str, trained: TrainedModel, hparams: DecodeHParams) -> str:
    """Return the file name that tensor2tensor would give to the translations of a file."""
    record = trained.record
    names = (record.model, record.hparams_set, record.problem)
    if len(trained.members) > 1:
        names = ("ensemble", f"{len(trained.members)}_models", record.problem)
    named = ".".join(filter(None, names))
    return f"{source}.{named}.beam{hparams.beam_size}.alpha{hparams.alpha}.decodes"
