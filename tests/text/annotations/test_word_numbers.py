import random

import pytest
import tensorflow as tf
from hard_text import CUTS, LINES, normalising_model

from t2t_phrase.config import UserError
from t2t_phrase.features import Feature
from t2t_phrase.text.annotations.base import Sentence, annotation_of
from t2t_phrase.text.annotations.word_numbers import WordNumbers
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords

TEXTS = [cut.replace("|", "") for cut in CUTS]


@pytest.fixture(scope="module", params=["ours", "normalising"])
def model(request):
    ours = request.param == "ours"
    return train_subwords(LINES, vocab_size=340) if ours else normalising_model(LINES)


def encode(model, text, numbers):
    ((ids, starts),) = SubwordEncoder(model).encode_with_starts([text])
    return WordNumbers().encode(Sentence(text, ids, starts), numbers)


def test_by_hand():
    words = annotation_of(Feature(name="case", stream="case"))
    assert type(words) is WordNumbers
    assert words.encode(Sentence("we cannot go", [9] * 4, [0, 2, 6, 9]), "3 1 -7") == [3, 1, 1, -7]
    # A blank goes with what follows.
    assert words.encode(Sentence("ä b", [9] * 3, [0, 2, 3]), " 5\u30006 ") == [5, 6, 6]
    assert words.end([3, 1]) == words.end([]) == 0
    assert words.read("a b", "\t3  1\r") == "3 1"
    assert words.read(" ", "") == ""


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_have_the_number_of_the_word_that_they_spell(model, text):
    ((ids, starts),) = SubwordEncoder(model).encode_with_starts([text])
    numbers = encode(model, text, " ".join(str(i) for i in range(len(text.split()))))
    # By brute force: how many words are left from each start on.
    data = text.encode()
    words = text.split()
    for start, number in zip(starts, numbers, strict=True):
        rest = data[start:].decode().split()
        if not rest:
            assert number == len(words) - 1
        else:
            assert words[number].endswith(rest[0]) and len(words) - number == len(rest)
    assert len(numbers) == len(ids)


def test_the_graph_gives_the_same_numbers(model):
    draw = random.Random(1)
    numbers = [[draw.randint(-5, 2**31 - 1) for _ in text.split()] for text in TEXTS]
    glue = [" ", "\t", "\u3000 "]
    written = [draw.choice(glue).join(map(str, row)) for row in numbers]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)] * 2)
    def in_graph(texts, annotations):
        _, starts = TfSubwords(model).encode_with_starts(texts)
        found = WordNumbers().encode_in_graph(texts, starts, annotations)
        return found, WordNumbers().end_in_graph(found)

    found, ends = in_graph(tf.constant(TEXTS), tf.constant(written))
    assert found.to_list() == [encode(model, *pair) for pair in zip(TEXTS, written, strict=True)]
    assert ends.numpy().tolist() == [0] * len(TEXTS)
    found, ends = in_graph(tf.constant([""]), tf.constant([""]))
    assert (found.to_list(), ends.numpy().tolist()) == ([[]], [0])


@pytest.mark.parametrize(
    ("numbers", "fault", "fault_in_graph"),
    [
        ("1", "1 integer for the 2 words of 'a b'", "one integer for each word"),
        ("1 2 3", "3 integers for the 2 words of 'a b'", "one integer for each word"),
        ("1 x", "'x' is not a 32-bit integer", "must consist of integers"),
        ("1 1.5", "'1.5' is not a 32-bit integer", "must consist of integers"),
        ("1 2147483648", "'2147483648' is not a 32-bit integer", "2147483648"),
    ],
)
def test_misfits_are_refused(model, numbers, fault, fault_in_graph):
    with pytest.raises(UserError, match=fault):
        WordNumbers().read("a b", numbers)
    with pytest.raises(UserError, match=fault):
        encode(model, "a b", numbers)
    _, starts = TfSubwords(model).encode_with_starts(["a b"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=fault_in_graph):
        WordNumbers().encode_in_graph(tf.constant(["a b"]), starts, tf.constant([numbers]))
