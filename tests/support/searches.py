"""Translations of the same sentences with every option of the search, whatever the backend."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from random_weights import randomize
from small_phrase_models import SMALL
from tiny_pair import make_pair

from t2t_phrase.decoding.dictionary import Dictionary
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import Hypothesis
from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
from t2t_phrase.decoding.shortlists import Shortlister
from t2t_phrase.decoding.terms import RequiredTerms, entries_of_texts
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.dictionaries.reader import Entry
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.text.words.encoder import HEADER, WordEncoder
from t2t_phrase.word_aligner.translation_table import Translation

SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu")
WORDS = [first + second for first in SYLLABLES for second in SYLLABLES]
ENCODER = WordEncoder(HEADER + "".join(f"{word}\n" for word in WORDS).encode())
VOCABULARIES = Vocabularies(ENCODER, ENCODER)
LINES = ["bade figo huka", "", "leno mipu baba dede", "gogo"]
BEAM = DecodeHParams(beam_size=4, max_length=7, return_beams=True, token_probabilities=True)
SAMPLES = DecodeHParams(
    sampling_temp=1.0, num_samples=3, max_length=7, return_beams=True, random_seed=5
)
ENTRIES = [Entry("bade", "kaka mimi"), Entry("mipu", "nono")]
# For each line: alternatives, and one that is forbidden everywhere in it.
TERMS: list[list[tuple[str, str]]] = [
    [("bade", "kaka mimi"), ("bade", "pupu"), ("huka", "fifi")],
    [],
    [("leno", "dede"), ("mipu", "!baba")],
    [("gogo", "lele nono")],
]
PREFIXES = ["kaka b", "", "mimi ", "f"]
LEXICON = [
    Translation(source, target, 0.0, 1 + (3 * i + j) % 7)
    for i, source in enumerate(WORDS)
    for j, target in enumerate(WORDS[i : i + 5])
]

Found = list[list[Hypothesis]]


@functools.cache
def transformer() -> Any:
    """Return a model by which some translations end in time, and others do not."""
    hparams = SMALL.replace(shared_embedding_and_softmax_weights=False)
    model = _random(Transformer.from_hparams(hparams, vocab_size=ENCODER.vocab_size))
    (weights,) = (each for each in model.trainable_variables if "softmax" in each.path)
    values = np.array(weights)
    values[EOS_ID] *= 2
    weights.assign(values)
    return model


@functools.cache
def ensemble() -> Any:
    hparams = LuongHParams(hidden_size=8, num_hidden_layers=1, dropout=0.0)
    recurrent = Luong.from_hparams(hparams, vocab_size=ENCODER.vocab_size)
    return Ensemble([transformer(), _random(recurrent)])


def _random(model: Any) -> Any:
    randomize(model, seed=5, deviation=0.5)
    return model


def by(options: DecodeHParams, model: Callable[[], Any] = transformer, **parts: Any) -> Translator:
    return Translator(model(), VOCABULARIES, options, **parts)


def by_pair(options: DecodeHParams, **parts: Any) -> Translator:
    pair = make_pair(vocab_size=ENCODER.vocab_size)
    make_expansion = functools.partial(alignment_expansion, pair)
    return by(options, lambda: pair, make_expansion=make_expansion, **parts)


def required() -> dict[str, Any]:
    return {"dictionary": RequiredTerms((), ENCODER)}


def guided() -> dict[str, Any]:
    return {"dictionary": Dictionary(ENTRIES, ENCODER)}


def with_terms(translator: Translator, **beside: Any) -> Found:
    return translator.translate(LINES, entries=entries_of_texts(TERMS, len(LINES)), **beside)


def with_shortlist(translator: Translator) -> Found:
    options = translator.hparams.replace(shortlist_frequent=5, shortlist_best=4)
    shortlister = Shortlister(LEXICON, ENCODER, options)
    return translator.translate_encoded(shortlister.propose(translator.encode(LINES), LINES))


LISTS: dict[str, dict[str, Any]] = {
    "diverse": {"num_groups": 2, "diversity_strength": 1.0},
    "coverage": {"coverage_penalty": 0.4},
    "no_repeated_ngrams": {"no_repeat_ngram_size": 1},
    "links": {"write_alignments": True},
}
FILTERS: dict[str, dict[str, Any]] = {
    "top_k": {"sampling_keep_top_k": 12},
    "nucleus": {"sampling_top_p": 0.7},
    "epsilon": {"sampling_epsilon": 0.02},
}


def all_of(options: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: value for each in options.values() for name, value in each.items()}


# Most of the time goes into compiling, so these have as many options as can be combined.
TOGETHER: dict[str, Callable[[], Found]] = {
    "lists": lambda: by(BEAM.replace(**all_of(LISTS))).translate(LINES),
    "restrictions": lambda: with_terms(by(BEAM, **required()), prefixes=PREFIXES),
    "ensemble": lambda: with_shortlist(by(BEAM, ensemble, **guided())),
    "samples": lambda: by(SAMPLES.replace(**all_of(FILTERS), mbr=True)).translate(LINES),
    "alignment_model": lambda: by_pair(BEAM).translate(LINES),
}
ALONE: dict[str, Callable[[], Found]] = {
    "beam": lambda: by(BEAM).translate(LINES),
    "greedy": lambda: by(BEAM.replace(beam_size=1)).translate(LINES),
    "terms": lambda: with_terms(by(BEAM, **required())),
    "prefixes": lambda: by(BEAM).translate(LINES, prefixes=PREFIXES),
    "dictionary": lambda: by(BEAM, **guided()).translate(LINES),
    "shortlist": lambda: with_shortlist(by(BEAM)),
    "ensemble_alone": lambda: by(BEAM, ensemble).translate(LINES),
    "samples_alone": lambda: by(SAMPLES).translate(LINES),
    "bayes_risk": lambda: by(SAMPLES.replace(mbr=True)).translate(LINES),
    "samples_with_prefixes": lambda: by(SAMPLES).translate(LINES, prefixes=PREFIXES),
    "alignment_model_and_terms": lambda: with_terms(by_pair(BEAM, **required())),
}


def _alone(options: DecodeHParams) -> Callable[[], Found]:
    return lambda: by(options).translate(LINES)


ALONE |= {name: _alone(BEAM.replace(**each)) for name, each in LISTS.items()}
ALONE |= {name: _alone(SAMPLES.replace(**each)) for name, each in FILTERS.items()}
SEARCHES = {**TOGETHER, **ALONE}


def found_by(name: str) -> list[list[dict[str, Any]]]:
    """Return the hypotheses of each line as JSON has them."""
    found = [
        [{**dataclasses.asdict(each), "confidence": each.confidence} for each in hypotheses]
        for hypotheses in SEARCHES[name]()
    ]
    return json.loads(json.dumps(found))
