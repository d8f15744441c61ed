import numpy as np
from planted_probes import most_are, planted

from t2t_phrase.probing.classes import NONE
from t2t_phrase.probing.examples import SentenceExamples, VectorExamples


def test_batches_of_vectors_hold_each_once_in_few_shapes():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 6, 23)
    vectors, start = [], 0
    for count in counts:
        vectors.append(np.arange(start, start + count, dtype="float32")[:, None])
        start += count
    labels = [(rows[:, 0] % 3).astype("int32") for rows in vectors]
    examples = VectorExamples(vectors, labels)
    for order in (None, np.random.default_rng(1)):
        batches = list(examples.batches(8, order))
        assert len(batches) == examples.count(8) == 3
        assert {batch.labels.shape for batch in batches} == {(1024,)}
        real = [batch.labels != NONE for batch in batches]
        values = np.concatenate(
            [b.features["vectors"][r, 0] for b, r in zip(batches, real, strict=True)]
        )
        found = np.concatenate([b.labels[r] for b, r in zip(batches, real, strict=True)])
        np.testing.assert_array_equal(values % 3, found)
        assert (values.tolist() == list(range(start))) == (order is None)
        assert sorted(values) == list(range(start))


def test_batches_of_sentence_vectors_are_filled_up_and_even():
    examples = VectorExamples([np.ones((1, 2), "float32")] * 9, [np.array([1], "int32")] * 9)
    batches = list(examples.batches(8))
    assert [batch.labels.tolist().count(1) for batch in batches] == [5, 4]
    assert {batch.features["vectors"].shape for batch in batches} == {(8, 2)}


def test_batches_of_sentences():
    for unit in ("word", "sentence"):
        inputs, data = planted(unit)
        own = inputs["dev"]
        examples = SentenceExamples(own, data.labels["dev"], unit == "word")
        seen = []
        for batch in examples.batches(5, np.random.default_rng(0)):
            ids = batch.features["inputs"]
            assert ids.shape == (5, 8) == batch.features["words"].shape
            assert batch.labels.shape == ((5, 8) if unit == "word" else (5,))
            for row in range(5):
                sentence = ids[row][ids[row] > 1].tolist()
                labels = np.atleast_1d(batch.labels[row])
                odd = np.array(sentence, "int32") % 2
                wanted = odd if unit == "word" or not sentence else most_are(odd)
                assert labels[labels != NONE].tolist() == wanted.tolist()
                seen += [sentence] if sentence else []
        assert sorted(seen) == sorted(row[:-1] for row in own.side.ids)
        assert len(list(examples.batches(5))) == examples.count(5)
