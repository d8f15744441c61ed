"""Cells of a corpus: every pair of words that occur together has one entry."""

import numpy as np
from reference_aligner import pairs_of_words

from t2t_phrase.word_aligner import cells as module
from t2t_phrase.word_aligner.cells import make_cells


def test_every_pair_of_words_has_one_entry(tiny):
    found = list(tiny.words.values())
    assert len(found) == len(set(found)) and set(found) == pairs_of_words(tiny.corpus)
    given = {entry: int(tiny.cells.given[entry]) for entry in tiny.words}
    assert all((words[0] is None) == (given[entry] == 0) for entry, words in tiny.words.items())
    numbers = {words[0]: given[entry] for entry, words in tiny.words.items()}
    assert all(numbers[words[0]] == given[entry] for entry, words in tiny.words.items())
    assert tiny.cells.vocab_size == 5 and tiny.cells.target_words == 15


def test_chunks_are_bounded_and_hold_every_pair_once(monkeypatch):
    generator = np.random.default_rng(0)
    sources, targets = (
        [generator.integers(0, 9, generator.integers(1, 6)).tolist() for _ in range(50)]
        for _ in range(2)
    )
    whole = make_cells(sources, targets)
    monkeypatch.setattr(module, "MOST_CELLS", 60)
    parts = make_cells(sources, targets)
    assert len(whole.chunks) == 1 and len(parts.chunks) > 10
    assert all(len(chunk.entries) <= 60 for chunk in parts.chunks)
    for found in (whole, parts):
        numbers = [n for c in found.chunks for b in c.buckets for n in b.pairs.tolist()]
        assert sorted(numbers) == list(range(50))
        for chunk in found.chunks:
            assert sum(bucket.of(chunk.entries).size for bucket in chunk.buckets) == len(
                chunk.entries
            )
    np.testing.assert_array_equal(whole.given, parts.given)
