import random
import re

import numpy as np
import pytest
import tensorflow as tf
from hard_text import CUTS, LINES, normalising_model

import t2t_phrase_grammar as grammar
from t2t_phrase.config import UserError
from t2t_phrase.features import CONTINUES, LEVELS
from t2t_phrase.ops.partition import level_partition
from t2t_phrase.text.annotations.base import Sentence, annotation_of
from t2t_phrase.text.annotations.phrases import phrase_numbers
from t2t_phrase.text.annotations.tree_levels import TreeLevels
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords


@pytest.fixture(scope="module", params=["ours", "normalising"])
def model(request):
    ours = request.param == "ours"
    return train_subwords(LINES, vocab_size=340) if ours else normalising_model(LINES)


def with_tabs(cut, seed):
    """Return a cut sentence with a random number of tabs, or none, at each cut."""
    draw = random.Random(seed)
    first, *rest = cut.split("|")
    return first + "".join(draw.choice(["\t", "\t\t", " \t \t\t", ""]) + piece for piece in rest)


def encode(model, text, levels):
    ((ids, starts),) = SubwordEncoder(model).encode_with_starts([text])
    return starts, TreeLevels().encode(Sentence(text, ids, starts), levels)


def test_by_hand():
    def numbers(text, starts, levels):
        return TreeLevels().encode(Sentence(text, (), starts), levels)

    assert numbers("a b c", [0, 1, 3], "a\tb\t\tc") == [1, 1, 2]
    # "can" ends and "not" begins inside the second token, which is cut at level 1 all the same.
    assert numbers("we cannot go", [0, 2, 9], "we\t\tcan\tnot\t\t\tgo") == [1, 2, 1]
    # Tokens that begin inside a word, and a blank before one.
    assert numbers("ab c", [0, 1, 2, 3], "ab\t\tc") == [1, CONTINUES, 2, CONTINUES]
    assert TreeLevels().end([1, 2]) == TreeLevels().end([]) == 1
    with pytest.raises(
        UserError, match=r"the constituents 'a\\tc' do not spell the sentence 'a b'"
    ):
        numbers("a b", [0], "a\tc")


@pytest.mark.parametrize("seed", range(3))
def test_each_level_is_the_partition_that_its_cuts_make(model, seed):
    """Compared with segments without levels: the cuts of at most so many tabs."""
    for cut in CUTS:
        text, levels = cut.replace("|", ""), with_tabs(cut, seed)
        starts, found = encode(model, text, levels)
        for level in (1, 2, 3):
            pieces, piece = [], ""
            for part in re.findall(r"\s+|\S+", levels):
                if part.isspace() and 0 < part.count("\t") <= level:
                    pieces, piece = [*pieces, piece], ""
                piece += part
            expected = phrase_numbers(text, starts, [*pieces, piece])
            assert np.asarray(level_partition(np.array([found]), level))[0].tolist() == expected


def test_the_graph_gives_the_same_numbers(model):
    texts = [cut.replace("|", "") for cut in CUTS]
    levels = [with_tabs(cut, seed) for seed, cut in enumerate(CUTS)]
    for pair in grammar.generate("dev", 20):
        texts.append(pair.source)
        levels.append(annotation_of(LEVELS).read(pair.source, pair.tree))
    expected = [encode(model, *pair)[1] for pair in zip(texts, levels, strict=True)]
    assert {1, 2, 3, CONTINUES} <= {number for row in expected for number in row}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)] * 2)
    def in_graph(texts, levels):
        _, starts = TfSubwords(model).encode_with_starts(texts)
        numbers = TreeLevels().encode_in_graph(texts, starts, levels)
        return numbers, TreeLevels().end_in_graph(numbers)

    numbers, ends = in_graph(tf.constant(texts), tf.constant(levels))
    assert numbers.to_list() == expected and set(ends.numpy()) == {1}
    for empty in ([""], []):
        numbers, ends = in_graph(*[tf.constant(empty, tf.string)] * 2)
        assert numbers.to_list() == [[]] * len(empty) and len(ends) == len(empty)
    with pytest.raises(tf.errors.InvalidArgumentError, match="levels must be the text with tabs"):
        in_graph(tf.constant(["a b"]), tf.constant(["a\tc"]))
