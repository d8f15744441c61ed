import numpy as np

from t2t_phrase.layers.recurrent.word_embedding import WordEmbedding


def test_rows_are_not_scaled_and_padding_is_zero() -> None:
    layer = WordEmbedding(vocab_size=5, hidden_size=3, initial_range=0.1)
    found = layer(np.array([[4, 0, 1]]))
    rows = np.asarray(layer.kernel)
    np.testing.assert_array_equal(found, [[rows[4], np.zeros(3), rows[1]]])
    assert 0.05 < np.abs(rows).max() <= 0.1
    assert WordEmbedding.from_config(layer.get_config()).get_config() == layer.get_config()


def test_without_a_range_it_starts_as_token_embeddings_do() -> None:
    layer = WordEmbedding(vocab_size=500, hidden_size=16)
    layer.build()
    assert abs(np.std(layer.kernel) - 0.25) < 0.01
