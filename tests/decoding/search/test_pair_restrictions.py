"""Required terms, prefixes and forbidden phrases in a search with an alignment model."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import reference_alignment_search as reference
import reference_constraints
from exact_models import padded, random_sources
from tiny_pair import VOCAB, Prefixes, make_pair

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search import forbidden, prefix
from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses
from t2t_phrase.decoding.search.required_terms import TERM, TERMS
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.special_ids import EOS_ID

SOURCES = random_sources([5, 2, 7])
BEAMS, LENGTH = 3, 5
BEGINS = np.array([False, True, *[True] * 15, False, False])  # 17 and 18 go on with a word
WANTED: list[list[list[tuple[int, ...]]]] = [[[(3, 4), (9,)], [(5,)]], [], [[(6, 7)], [(6,)]]]
# Of each sentence: the tokens that it begins with, and a token that is forbidden.
BEGUN, BARRED = [(), (8,), (10, 11)], [12, 0, 5]


def features_of() -> dict[str, np.ndarray]:
    terms = np.zeros((3, 2, 2, 2), "int32")
    edges = np.zeros((3, 1, 3), "int32")
    for sentence, own in enumerate(WANTED):
        edges[sentence, 0] = (forbidden.ANYWHERE, forbidden.END, BARRED[sentence])
        for term, alternatives in enumerate(own):
            for number, tokens in enumerate(alternatives):
                terms[sentence, term, number, : len(tokens)] = tokens
    return {
        "inputs": padded(SOURCES, extra=1),
        TERMS: terms,
        forbidden.EDGES: edges,
        prefix.TOKENS: padded([list(tokens) for tokens in BEGUN]),
        prefix.EDGES: np.zeros((3, 1, 3), "int32"),
        prefix.RANGES: np.zeros((3, 1, 2), "int32"),
    }


TABLES = {
    "begins_word": BEGINS,
    "ends_word": np.ones(VOCAB, "bool"),
    "ranks": np.arange(VOCAB, dtype="int32"),
}


@pytest.fixture(scope="module")
def pair() -> AlignedPair:
    return make_pair()


def options(threshold: float) -> DecodeHParams:
    return DecodeHParams(
        beam_size=BEAMS,
        max_length=LENGTH,
        extra_length=LENGTH,
        return_beams=True,
        alignment_threshold=threshold,
    )


def run(pair: AlignedPair, features: Any, threshold: float = 0.1, *, xla: bool = False) -> Any:
    make_expansion = functools.partial(alignment_expansion, pair)

    def search(features: Any) -> Hypotheses:
        given = {**features, **TABLES}
        return translate_ids(pair, given, options(threshold), make_expansion=make_expansion)

    return compiled(search, xla=xla)(features)


class Restricted(Prefixes):
    """Words that may follow, by the definition."""

    def __init__(self, pair: AlignedPair, sentence: int) -> None:
        super().__init__(pair, SOURCES[sentence])
        self.terms, self.begun, self.barred = (of[sentence] for of in (WANTED, BEGUN, BARRED))

    def words(self, pairs: Any) -> list[list[float]]:
        rows = super().words(pairs)
        return [self._row(found.tokens, row) for (found, _), row in zip(pairs, rows, strict=True)]

    def _row(self, tokens: tuple[int, ...], row: list[float]) -> list[float]:
        if len(tokens) < len(self.begun):
            forced = self.begun[len(tokens)]
            return [v if token == forced else -np.inf for token, v in enumerate(row)]
        left = functools.partial(
            reference_constraints.left, terms=self.terms, begins_word=BEGINS.tolist()
        )
        allowed = {*range(VOCAB)} - {self.barred or -1} - ({EOS_ID} if left(tokens) else set())
        more = reference_constraints.next_tokens(tokens, self.terms, BEGINS.tolist())
        likeliest = sorted(allowed, key=lambda token: -row[token])[: BEAMS + 1]
        found = [-np.inf] * VOCAB
        room = LENGTH - len(tokens)
        urgent = more if left(tokens) + 1 >= room else set()
        for token in {*likeliest, *(more & allowed), *urgent, *({EOS_ID} & allowed)}:
            after = left((*tokens, token))
            if after == 0 or after + 2 <= room or after < left(tokens):
                found[token] = row[token]
        return found

    def choose(self, found: list[reference.Found]) -> list[reference.Found]:
        banks = [
            (-reference_constraints.left(f.tokens, self.terms, BEGINS.tolist()), f.score)
            for f in found
        ]
        return [found[n] for n in reference_constraints.deal(banks, BEAMS, BEAMS // 2)]


@pytest.mark.slow
def test_it_finds_what_the_definition_says(pair: AlignedPair) -> None:
    threshold = 0.2
    found = run(pair, features_of(), threshold)
    for sentence, terms in enumerate(WANTED):
        model = Restricted(pair, sentence)
        expected = reference.search(
            model.places,
            model.words,
            max_length=LENGTH,
            beam_size=BEAMS,
            alpha=0.6,
            threshold=threshold,
            weight=1.0,
            choose=model.choose if terms else None,
        )
        ids = np.asarray(found.ids)[sentence]
        scores = np.asarray(found.scores)[sentence]
        assert (scores > WORST).sum() == len(expected)
        for beam, hypothesis in enumerate(expected):
            own = ids[beam][: len(hypothesis.tokens)].tolist()
            assert own == [*hypothesis.tokens]
            np.testing.assert_allclose(scores[beam], hypothesis.score, atol=1e-4)
            state = reference_constraints.state_of(hypothesis.tokens, terms, BEGINS.tolist())
            assert len(state.met) == len(terms)
            assert tuple(own[: len(BEGUN[sentence])]) == BEGUN[sentence]
            assert BARRED[sentence] not in own
            assert np.asarray(found.notes[TERM])[sentence, beam].any() == bool(terms)


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_alone_and_compiled_equal_the_batch(pair: AlignedPair, xla: bool) -> None:
    features = features_of()
    together = run(pair, features, xla=xla)
    eager = translate_ids(
        pair,
        {**features, **TABLES},
        options(0.1),
        make_expansion=functools.partial(alignment_expansion, pair),
    )
    np.testing.assert_array_equal(together.ids, eager.ids)
    alone = run(pair, {name: values[2:] for name, values in features.items()}, xla=xla)
    np.testing.assert_array_equal(np.asarray(together.ids)[2], np.asarray(alone.ids)[0])
    np.testing.assert_allclose(
        np.asarray(together.scores)[2], np.asarray(alone.scores)[0], atol=1e-4
    )
