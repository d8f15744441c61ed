import numpy as np

from t2t_phrase.ops.masks import (
    causal_mask,
    history_mask,
    memory_mask,
    padding_mask,
    same_pair_mask,
    window_mask,
)


def test_padding_mask_is_true_at_real_tokens() -> None:
    ids = np.array([[5, 6, 1, 0], [1, 0, 0, 0]])
    expected = np.array([[1, 1, 1, 0], [1, 0, 0, 0]], bool)
    np.testing.assert_array_equal(padding_mask(ids), expected)
    np.testing.assert_array_equal(memory_mask(ids), expected[:, None, None, :])
    assert np.asarray(memory_mask(ids)).dtype == bool


def test_causal_mask_shows_the_past_and_the_present() -> None:
    expected = np.array(
        [
            [1, 0, 0, 0],
            [1, 1, 0, 0],
            [1, 1, 1, 0],
            [1, 1, 1, 1],
        ],
        bool,
    )
    np.testing.assert_array_equal(causal_mask(4), expected[None, None])


def test_history_mask_shows_each_beam_its_ancestors_up_to_now() -> None:
    # Beam 0 was beam 1 at times 0 and 1, and beam 0 at time 2; beam 1 was always beam 1.
    ancestors = np.array([[[1, 1, 0, 0], [1, 1, 1, 0]]])
    mask = np.asarray(history_mask(ancestors, 2))
    assert mask.shape == (1, 1, 2, 8)
    #            time 0      time 1      time 2      time 3
    expected = [[0, 1, 0, 1, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0]]
    np.testing.assert_array_equal(mask[0, 0], np.array(expected, bool))
    earlier = [[0, 1, 0, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0]]
    np.testing.assert_array_equal(history_mask(ancestors, 1)[0, 0], np.array(earlier, bool))


def test_window_mask_ends_with_each_sentence() -> None:
    window = np.array([[[-1, 0, 1], [2, 3, 4]], [[-1, 0, 1], [2, 3, 4]]])
    mask = np.asarray(window_mask(window, np.array([[4], [1]])))
    assert mask.shape == (2, 1, 2, 3)
    expected = [[[0, 1, 1], [1, 1, 0]], [[0, 1, 0], [0, 0, 0]]]
    np.testing.assert_array_equal(mask[:, 0], np.array(expected, bool))


def test_tokens_may_attend_to_those_of_their_own_pair() -> None:
    mask = np.asarray(same_pair_mask(np.array([[1, 2, 2, 0]]), np.array([[1, 1, 2, 0, 0]])))
    assert mask.shape == (1, 1, 4, 5)
    assert mask[0, 0].astype(int).tolist() == [
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]
