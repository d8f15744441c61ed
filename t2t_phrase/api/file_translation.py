"""Translating a file, or standard input, line by line."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from t2t_phrase.api.alignment_search import OPTIONS, Searched, check_search_options, searched
from t2t_phrase.api.text_files import Beside, check_alignment_options
from t2t_phrase.config import UserError
from t2t_phrase.cores import divide_cores
from t2t_phrase.decoding.dictionary_files import missing_notes, read_dictionaries, summary
from t2t_phrase.decoding.feature_files import FeatureReader
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import NOTHING, Hypothesis, format_hypotheses, format_links
from t2t_phrase.decoding.length_notes import length_notes
from t2t_phrase.decoding.lexicon_files import read_lexicon
from t2t_phrase.decoding.n_best_json import to_json
from t2t_phrase.decoding.search.prefix import TOKENS as PREFIX
from t2t_phrase.decoding.search.required_terms import TERMS
from t2t_phrase.decoding.search.restrictions import check_restrictions
from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.decoding.unknown_files import read_unknown
from t2t_phrase.io import text_job
from t2t_phrase.io.files import is_special
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.line_windows import Window
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.io.resumable import Result
from t2t_phrase.io.text_files import count_lines
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.text.vocabularies import Vocabularies

if TYPE_CHECKING:
    from t2t_phrase.decoding.shortlists import Shortlister


class FileTranslation:
    """The translation of a text: one output line for each input line, in the same order.

    Args:
        hparams: the decoding options.
        source: a file; None: standard input.
        target: a file; None: one named after the source and the model, or standard output if
            there is no source.
        beside: further files and options.

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
    ) -> None:
        self._json = beside.n_best_format == "json"
        if self._json:
            hparams = hparams.replace(token_probabilities=True)
        elif hparams.token_probabilities:
            raise UserError("token_probabilities=true: is only written with --n_best_format=json")
        self._hparams, self._source, self._target = hparams, source, target
        self._beside = beside
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
        check_search_options(hparams, beside.alignment_model_dir)
        restricting = {PREFIX: beside.prefix_file, TERMS: self._given.mode == "require"}
        check_restrictions({name: None for name in restricting if restricting[name]}, hparams)
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
        features = FeatureReader(
            translator.features,
            {"source": source},
            beside.feature_files,
            beside.parser,
        )
        files = [*features.files, *filter(None, [beside.prefix_file])]
        text_job.check_paths(target, [*beside.inputs(source), *features.files])
        text_job.check_counts(source, self._total, files)
        loaded = _Loaded(
            translator,
            features,
            self._lexicon.shortlister(vocabularies, hparams),
            max_length=min(member.record.resolved().max_length for member in trained.members),
            endings=endings,
        )
        start = time.monotonic()
        outcome = text_job.do(
            functools.partial(self._translated, loaded),
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
            note(
                f"{self._positions / self._tokens:.2f} source positions evaluated for each target "
                f"token (alignment_threshold={hparams.alignment_threshold})"
            )
        return outcome

    def _translated(
        self, loaded: _Loaded, window: Window, done: set[int], number: int
    ) -> Iterator[Result]:
        """Yield the results of a window, see `resumable.Work`."""
        encoded = self._encoded(loaded, window, done)
        for sentence in length_notes(
            encoded,
            max_input_size=self._hparams.max_input_size,
            max_length=loaded.max_length,
            first=window.first,
        ):
            note(sentence)
        for batch, found in loaded.translator.batches(
            encoded, done=done, number=number, first=window.first
        ):
            best = [hypotheses[0] for hypotheses in found]
            for sentence in missing_notes(batch.lines, best, first=window.first):
                note(sentence)
            links = [format_links(hypotheses) for hypotheses in found]
            yield Result(
                batch.lines,
                [self._line(hypotheses) for hypotheses in found],
                sum(hypothesis.tokens for hypothesis in best),
                {ending: links for ending in loaded.endings},
                self._counts(encoded, batch.lines, best),
            )
        # Empty lines come last, so that the first batch always has the same number.
        empty = [row for row, ids in enumerate(encoded.ids) if not ids and row not in done]
        if empty:
            nothing = [self._line([NOTHING])] * len(empty)
            links = [""] * len(empty)
            yield Result(empty, nothing, 0.0, {ending: links for ending in loaded.endings})

    def _encoded(self, loaded: _Loaded, window: Window, done: set[int]) -> EncodedSide:
        """Return the lines of a window with their features, entries, prefixes and shortlists."""
        translator, prefix_file = loaded.translator, self._beside.prefix_file
        texts = loaded.features.texts(window, {"source": window.lines}, done)
        encoded = translator.encode(window.lines, texts, self._given.of_window(window))
        prefixes = window.beside.get(prefix_file, ())
        encoded = translator.with_prefixes(encoded, prefixes, name=prefix_file, first=window.first)
        if loaded.shortlister is None:
            return encoded
        return loaded.shortlister.propose(encoded, window.lines)

    def _counts(
        self, encoded: EncodedSide, lines: Sequence[int], best: Sequence[Hypothesis]
    ) -> dict[str, int]:
        """Return the counts of a batch, and add those of this run."""
        self._tokens += sum(hypothesis.tokens for hypothesis in best)
        self._positions += sum(hypothesis.positions for hypothesis in best)
        counts = self._unknown.counts(best)
        if encoded.entries:
            counts["matched"] = sum(encoded.entries[i].matched for i in lines)
            counts["applied"] = sum(hypothesis.entries for hypothesis in best)
        return counts

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
        note(
            f"{counted(outcome.lines, 'sentence')}{kept}, {outcome.amount:.0f} target tokens in "
            f"{seconds:.1f} s ({outcome.amount / max(seconds, 1e-9):.0f} tokens/s; {how}) "
            f"written to {target or 'standard output'}"
        )
        if self._given.files:
            note(summary(outcome.counts, self._given, outcome.lines))
        if self._unknown.wanted:
            note(self._unknown.summary(outcome.counts))


@dataclasses.dataclass(frozen=True)
class _Loaded:
    """The parts that translate the lines of a window.

    Attributes:
        translator: translates them.
        features: provides the texts of their features.
        shortlister: proposes target tokens; None: any token may be used.
        max_length: the most tokens of a sentence in training.
        endings: of the files that are written next to the output.
    """

    translator: Translator
    features: FeatureReader
    shortlister: Shortlister | None
    max_length: int
    endings: list[str]


def default_target(source: str, trained: TrainedModel, hparams: DecodeHParams) -> str:
    """Return the file name that tensor2tensor would give to the translations of a file."""
    record = trained.record
    names = (record.model, record.hparams_set, record.problem)
    if len(trained.members) > 1:
        names = ("ensemble", f"{len(trained.members)}_models", record.problem)
    named = ".".join(filter(None, names))
    return f"{source}.{named}.beam{hparams.beam_size}.alpha{hparams.alpha}.decodes"
