"""Scoring a file of sentence pairs."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator

from t2t_phrase.api.alignment_search import OPTIONS, check_search_options, searched
from t2t_phrase.api.text_files import LINKS, Beside, check_alignment_options
from t2t_phrase.config import UserError
from t2t_phrase.decoding.feature_files import FeatureReader
from t2t_phrase.decoding.hparams import PLAIN_SEARCH, SHORTLISTS, DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.search.source_attention import source_attention
from t2t_phrase.io import text_job
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.line_windows import Window
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.io.resumable import Result
from t2t_phrase.io.text_files import count_lines, split_pair
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.text.alignments.pharaoh import write_links
from t2t_phrase.text.vocabularies import Vocabularies

# The decoding options that ask for something of translations that scores do not have. Those of
# size and length may be given, so that the same options can be used for both. Scores are those of
# the original weights, also with an alignment model.
_OF_TRANSLATIONS = (
    *("return_beams", "write_scores", "token_probabilities", "replace_unknown", "quantize"),
    *("search", "sampling_temp", *PLAIN_SEARCH, *SHORTLISTS),
)
# Files and options that scores do not depend on.
_BESIDE_TRANSLATIONS = (
    *("dictionary", "sentence_dictionary", "dictionary_mode", "unknown_dictionary"),
    *("prefix_file", "lexicon_file", "n_best_format"),
)


class FileScoring:
    """The negative log-probability, in nats, of each pair in a file of `source<TAB>target`.

    With an alignment model, each pair is scored with its best source positions.

    Args:
        hparams: the decoding options.
        pairs: the file.
        target: a file for the scores; None: standard output.
        beside: further files and options, apart from those that only translations depend on.

    Raises:
        UserError: a file cannot be read or written, or an option has no effect. All faults that
            can be found without the model are found here.
    """

    def __init__(
        self,
        hparams: DecodeHParams,
        *,
        pairs: str,
        target: str | None,
        beside: Beside,
    ) -> None:
        for name in hparams.given(_OF_TRANSLATIONS):
            value = str(getattr(hparams, name)).lower()
            raise UserError(f"{name}={value}: cannot be used with --score_file; leave it out")
        for name in _BESIDE_TRANSLATIONS:
            if (value := getattr(beside, name)) != getattr(Beside(), name):
                raise UserError(f"--{name}={value}: cannot be used with --score_file; leave it out")
        check_search_options(hparams, beside.alignment_model_dir)
        check_alignment_options(hparams, used=False)
        self._hparams, self._pairs, self._target = hparams, pairs, target
        self._beside = beside
        text_job.check_paths(target, beside.inputs(pairs))
        self._total = count_lines(pairs, lambda line, number: split_pair(line, pairs, number))
        self._endings = beside.endings(hparams, pairs, target)

    def run(self, trained: TrainedModel, vocabularies: Vocabularies) -> text_job.Outcome:
        """Score the pairs that no earlier run has scored.

        Args:
            trained: the model, or an ensemble.
            vocabularies: its source and target vocabularies.

        Raises:
            UserError: the pairs do not fit the model, or something cannot be read or written.
        """
        hparams, path, beside = self._hparams, self._pairs, self._beside
        used = choice = None
        if beside.alignment_model_dir:
            used = searched(
                trained,
                vocabularies,
                hparams,
                beside.alignment_model_dir,
                dtype_policy=beside.settings.get("dtype_policy"),
            )
        elif hparams.write_alignments:
            choice = source_attention(
                trained.model, layers=hparams.alignment_layers, heads=hparams.alignment_heads
            )
        scorer = Scorer(
            trained.model if used is None else used.model,
            vocabularies,
            batch_size=hparams.batch_size,
            max_input_size=hparams.max_input_size,
            attention=choice,
            search=None if used is None else used.forced_search(hparams),
            xla=beside.xla,
        )
        features = FeatureReader(
            scorer.features,
            dict.fromkeys(("source", "target"), path),
            beside.feature_files,
            beside.parser,
        )
        for ending in self._endings:
            text_job.check_beside(self._target, ending, features.files)
        text_job.check_paths(self._target, [path, *features.files])
        text_job.check_counts(path, self._total, features.files)

        options = {name: value for name, value in hparams.to_dict().items() if name in LINKS}
        options = {"max_input_size": hparams.max_input_size, **options}
        if used is not None:
            options |= {name: getattr(hparams, name) for name in ("beam_size", *OPTIONS)}
            options |= used.settings()
        start = time.monotonic()
        outcome = text_job.do(
            functools.partial(self._scored, scorer, features),
            source=path,
            target=self._target,
            beside=features.files,
            settings=beside.all_settings(
                "score", trained, options, aligns=hparams.write_alignments
            ),
            ticker=Ticker("scored", self._total, bar=self._target is not None),
            endings=self._endings,
        )
        kept = f" ({outcome.kept} of them by an earlier run)" if outcome.kept else ""
        note(
            f"{counted(outcome.lines, 'pair')}{kept} scored in {time.monotonic() - start:.1f} s, "
            f"sum {outcome.total:.4f}, written to {self._target or 'standard output'}"
        )
        return outcome

    def _scored(
        self,
        scorer: Scorer,
        features: FeatureReader,
        window: Window,
        done: set[int],
        number: int,
    ) -> Iterator[Result]:
        """Yield the results of a window, see `resumable.Work`."""
        del number
        pairs = [
            split_pair(line, self._pairs, window.first + i)
            for i, line in enumerate(window.lines, start=1)
        ]
        sides = {"source": [pair[0] for pair in pairs], "target": [pair[1] for pair in pairs]}
        encoded = scorer.encode(pairs, features.texts(window, sides, done))
        for row in sorted({*encoded[0].cut, *encoded[1].cut}):
            source_length, target_length = (side.lengths[row] for side in encoded)
            note(
                f"{self._pairs}:{window.first + row + 1}: {source_length} source and "
                f"{target_length} target tokens; the score is that of the first "
                f"{scorer.max_input_size} (max_input_size)"
            )
        for batch, scores in scorer.batches(*encoded, done=done, first=window.first):
            links = [write_links(found.links) for found in scores]
            yield Result(
                batch.lines,
                [f"{-found.log_probability:.6f}" for found in scores],
                -sum(found.log_probability for found in scores),
                {ending: links for ending in self._endings},
            )
