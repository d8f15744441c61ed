"""Trained models as Python objects that translate strings."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from t2t_phrase import registry
from t2t_phrase.api.alignment_search import check_search_options
from t2t_phrase.api.file_scoring import FileScoring
from t2t_phrase.api.file_translation import FileTranslation
from t2t_phrase.api.text_files import Beside, check_alignment_options
from t2t_phrase.config import UserError, shown
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import Hypothesis
from t2t_phrase.decoding.length_notes import cut_notes
from t2t_phrase.decoding.lexicon_files import read_lexicon
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.shortlists import Shortlister
from t2t_phrase.decoding.terms import RequiredTerms, entries_of_texts, is_pair, listed
from t2t_phrase.decoding.text_lists import check_list, check_text
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.io.files import expanded
from t2t_phrase.io.reporting import note
from t2t_phrase.io.text_job import Outcome
from t2t_phrase.runs.load_ensemble import load_models
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.runs.vocabulary import run_vocabularies
from t2t_phrase.text.vocabularies import Vocabularies

if TYPE_CHECKING:
    from t2t_phrase.insights.sentence import SentenceAttention

# The attributes that a copy has once it has loaded the model.
_LOADED = ("trained", "model", "vocabularies", "hparams", "_settings", "_translators")
# Decoding options, as an object or in T2T's syntax, `beam_size=4,alpha=0.6`.
Options = DecodeHParams | str


@dataclasses.dataclass(frozen=True)
class Origin:
    """The place that a model was loaded from, and from which another process can load it.

    Attributes:
        checkpoints: one checkpoint, or those of an ensemble.
        data_dir: see `load`.
        dtype_policy: see `load`.
        t2t_usr_dir: see `load`.
    """

    checkpoints: tuple[str, ...]
    data_dir: str | None
    dtype_policy: str | None
    t2t_usr_dir: str


class TrainedTranslator:
    """A trained model, or an ensemble, that translates and scores strings.

    It is pickled as the place that it was loaded from, and a copy loads the model when first used.
    It can therefore be sent to the workers of a cluster that have the same files.

    Args:
        trained: the model with its weights.
        vocabularies: its source and target vocabularies.
        settings: how the model differs from its training, such as another `dtype_policy`.
        origin: the place that it was loaded from; None: it cannot be pickled.

    Attributes:
        model: the Keras model.
        vocabularies: the encoders of source and target.
        hparams: the hyperparameters of the training.

    Example:
        ```python
        model = t2t_phrase.load("runs/mine")
        model.translate(["A house .", "Two trees ."], "beam_size=5")
        model.translate(["A house ."], prefixes=["Das "], terms=[[("house", "Haus")]])
        (beams,) = model.nbest(["A house ."], "beam_size=4,return_beams=true")
        for hypothesis in beams:
            print(f"{hypothesis.score:.2f} {hypothesis.text}")
        better, worse = model.score([("A house .", "Ein Haus ."), ("A house .", "Eine Haus .")])
        model.translate_file("test.src", "test.out", "beam_size=5,alpha=1.4")
        model.score_file("pairs.tsv", "pairs.scores")
        model.attention("A house .", "Ein Haus .").save_weights("weights.npz")
        ```
    """

    def __init__(
        self,
        trained: TrainedModel,
        vocabularies: Vocabularies,
        settings: Mapping[str, str] | None = None,
        origin: Origin | None = None,
    ) -> None:
        self._origin = origin
        self.trained = trained
        self._settings = dict(settings or {})
        self.model = trained.model
        self.vocabularies = vocabularies
        self.hparams = trained.model.hparams
        self._translators: dict[str, Translator] = {}
        self._shortlisters: dict[tuple[str, int, int], Shortlister] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            raise UserError("this model cannot be pickled; load it with t2t_phrase.load")
        return _unloaded, (self._origin,)

    def __getattr__(self, name: str) -> Any:
        # Called for attributes that a copy lacks until it has loaded the model.
        origin = vars(self).get("_origin")
        if name not in _LOADED or origin is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self).update(vars(_loaded(origin)))
        return vars(self)[name]

    def translate(
        self,
        texts: Sequence[str],
        options: Options = "",
        *,
        features: Mapping[str, Sequence[str]] | None = None,
        terms: Sequence[Sequence[tuple[str, str]]] = (),
        prefixes: Sequence[str] = (),
    ) -> list[str]:
        """Return the best translation of each text, in the same order.

        Args:
            texts: source sentences.
            options: see `DecodeHParams`.
            features: for a model that reads them, the text form of each feature by name, see
                `docs/trees.md`.
            terms: for each text, pairs (source, target): where the source occurs, the target must
                appear in the translation, or must not if it is given as `!target`. Pairs with the
                same source are alternatives, see `docs/dictionaries.md`.
            prefixes: the beginning of each translation, "" for any; it may end within a word.

        Raises:
            UserError: an option is unknown, or an argument is missing or wrong.
        """
        found = self.nbest(texts, options, features=features, terms=terms, prefixes=prefixes)
        return [beams[0].text for beams in found]

    def nbest(
        self,
        texts: Sequence[str],
        options: Options = "",
        *,
        features: Mapping[str, Sequence[str]] | None = None,
        terms: Sequence[Sequence[tuple[str, str]]] = (),
        prefixes: Sequence[str] = (),
        lexicon: str = "",
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses of each text, best first: one, or a beam with `return_beams=true`.

        Args:
            texts: source sentences.
            options: see `DecodeHParams`.
            features: as in `translate`.
            terms: as in `translate`.
            prefixes: as in `translate`.
            lexicon: file from `t2t-phrase-align --lexicon_file`: each text is translated with only
                the tokens that it proposes and the most frequent ones, see `docs/decoding.md`. A
                file is read when it is first given.

        Raises:
            UserError: an option is unknown, or an argument is missing or wrong.
        """
        texts, prefixes = check_list("texts", texts), check_list("prefixes", prefixes)
        hparams = decode_hparams(options)
        if not lexicon:
            read_lexicon(hparams)
        check_alignment_options(hparams, used=False)
        check_search_options(hparams)
        seed, hparams = hparams.random_seed, hparams.replace(random_seed=0)
        entries = entries_of_texts(terms, len(texts)) if terms else []
        if not any(entries):
            entries = []
        key = hparams.to_json() + ("required" if entries else "")
        if key not in self._translators:
            # The entries are given with each text.
            dictionary = RequiredTerms((), self.vocabularies.target) if entries else None
            self._translators[key] = Translator(
                self.model, self.vocabularies, hparams, dictionary=dictionary
            )
        translator = self._translators[key]
        encoded = translator.encode(texts, features, entries or None)
        for sentence in cut_notes(encoded, max_input_size=hparams.max_input_size):
            note(sentence)
        encoded = translator.with_prefixes(encoded, prefixes)
        if lexicon:
            encoded = self._shortlister(lexicon, hparams).propose(encoded, texts)
        return translator.translate_encoded(encoded, random_seed=seed)

    def _shortlister(self, lexicon: str, hparams: DecodeHParams) -> Shortlister:
        key = (lexicon, hparams.shortlist_frequent, hparams.shortlist_best)
        if key not in self._shortlisters:
            made = read_lexicon(hparams, lexicon).shortlister(self.vocabularies, hparams)
            assert made is not None, "there is a file"
            self._shortlisters[key] = made
        return self._shortlisters[key]

    def attention(
        self,
        source: str,
        target: str | None = None,
        *,
        features: Mapping[str, str] | None = None,
    ) -> SentenceAttention:
        """Return the attention weights of one sentence pair, to draw or to save.

        Args:
            source: a sentence.
            target: its translation; None: the model's own.
            features: the text of each feature that the model reads, by name.

        Raises:
            UserError: a feature is missing or does not fit, or a text is not a string.
        """
        from t2t_phrase.insights.sentence import sentence_attention

        check_text("source", source)
        if target is not None:
            check_text("target", target)
        texts = {name: [text] for name, text in (features or {}).items()}
        return sentence_attention(self.model, self.vocabularies, source, target, texts=texts)

    def translate_file(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        options: Options = "",
        *,
        beside: Beside | None = None,
    ) -> Outcome:
        """Translate a file line by line, as t2t-phrase-decoder does.

        Finished lines are kept in `TARGET.part`, from which the same call resumes.

        Args:
            source: the file to translate.
            target: file for the translations.
            options: see `DecodeHParams`.
            beside: files of features and dictionaries.

        Raises:
            UserError: a file or an option is wrong.
        """
        work = FileTranslation(
            decode_hparams(options),
            source=os.fspath(source),
            target=os.fspath(target),
            beside=self._beside(beside),
        )
        return work.run(self.trained, self.vocabularies)

    def score_file(
        self,
        pairs: str | os.PathLike[str],
        target: str | os.PathLike[str],
        options: Options = "",
        *,
        beside: Beside | None = None,
    ) -> Outcome:
        """Write the negative log-probability of each `source<TAB>target` line, in nats.

        Args:
            pairs: the file.
            target: file for the scores.
            options: see `DecodeHParams`.
            beside: files of features.

        Raises:
            UserError: a file or an option is wrong.
        """
        work = FileScoring(
            decode_hparams(options),
            pairs=os.fspath(pairs),
            target=os.fspath(target),
            beside=self._beside(beside),
        )
        return work.run(self.trained, self.vocabularies)

    def _beside(self, beside: Beside | None) -> Beside:
        beside = beside or Beside()
        return dataclasses.replace(beside, settings={**self._settings, **beside.settings})

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        features: Mapping[str, Sequence[str]] | None = None,
    ) -> list[float]:
        """Return the log-probability of each (source, target) pair, in nats.

        Args:
            pairs: the sentence pairs, which are scored whole, whatever their length.
            features: as in `translate`.

        Raises:
            UserError: a feature is missing or wrong, or `pairs` are not pairs.
        """
        given = listed(pairs)
        for pair in given:
            if not is_pair(pair):
                raise UserError(f"pairs: expected a list of (source, target), got {shown(pair)}")
        return self._scorer.score(given, features=features)

    @functools.cached_property
    def _scorer(self) -> Scorer:
        # Without a limit: the score of a text that was cut would be silently wrong.
        return Scorer(self.model, self.vocabularies)


def load(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    data_dir: str | None = None,
    dtype_policy: str | None = None,
    t2t_usr_dir: str = "",
) -> TrainedTranslator:
    """Return a trained model that translates strings.

    Args:
        path: the `--output_dir` of a run, its `best/`, or a checkpoint; several make an ensemble.
        data_dir: folder of the vocabulary; None: the run's own copy.
        dtype_policy: dtype policy of the model; None: as in its training.
        t2t_usr_dir: folder of a Python package with your own registrations.

    Raises:
        UserError: there is no such run, or it cannot be loaded.

    Example:
        ```python
        model = t2t_phrase.load("runs/mine/best")
        model.translate(["A house ."], "beam_size=5,alpha=1.4")
        ensemble = t2t_phrase.load(["runs/mine", "runs/other"])
        ```
    """
    return _loaded(
        Origin(
            _paths(path),
            data_dir and str(expanded(data_dir)),
            dtype_policy,
            t2t_usr_dir and str(expanded(t2t_usr_dir)),
        )
    )


def _paths(path: Any) -> tuple[str, ...]:
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(paths, Iterable):
        raise UserError(f"path: expected a run or a list of runs, got {shown(path)}")
    given = list(paths)
    for each in given:
        if not isinstance(each, (str, os.PathLike)):
            raise UserError(f"path: expected the path of a run, got {shown(each)}")
    return tuple(os.fspath(each) for each in given)


def _loaded(origin: Origin) -> TrainedTranslator:
    registry.discover(origin.t2t_usr_dir)
    dtype_policy = origin.dtype_policy
    trained = load_models(origin.checkpoints, dtype_policy=dtype_policy)
    vocabularies = run_vocabularies(trained.members[0], data_dir=origin.data_dir)
    settings = {"dtype_policy": dtype_policy} if dtype_policy else {}
    # Training may continue, and another process may run in another folder.
    pinned = dataclasses.replace(
        origin,
        checkpoints=tuple(os.path.abspath(member.checkpoint) for member in trained.members),
        data_dir=origin.data_dir and os.path.abspath(origin.data_dir),
        t2t_usr_dir=origin.t2t_usr_dir and os.path.abspath(origin.t2t_usr_dir),
    )
    return TrainedTranslator(trained, vocabularies, settings, pinned)


def _unloaded(origin: Origin) -> TrainedTranslator:
    copy = TrainedTranslator.__new__(TrainedTranslator)
    copy._origin = origin
    return copy


def decode_hparams(options: Options) -> DecodeHParams:
    """Return decoding options as an object.

    Raises:
        UserError: an option is unknown or wrong.
    """
    return options if isinstance(options, DecodeHParams) else DecodeHParams().override(options)
