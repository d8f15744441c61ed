import random

import pytest
import tensorflow as tf
from hard_text import CUTS, LINES, normalising_model

import t2t_phrase_grammar as grammar
from t2t_phrase.config import UserError
from t2t_phrase.features import PHRASES
from t2t_phrase.text.annotations.base import Sentence, annotation_of
from t2t_phrase.text.annotations.phrases import Phrases, phrase_numbers
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords

TREE = "(S (NP (DT The) (NN dog)) (VP (MD can) (RB not) (VP (VB swim))) (. .))"


@pytest.fixture(scope="module", params=["ours", "normalising"])
def model(request):
    ours = request.param == "ours"
    return train_subwords(LINES, vocab_size=340) if ours else normalising_model(LINES)


def encode(model, text, phrases):
    ((ids, starts),) = SubwordEncoder(model).encode_with_starts([text])
    return ids, Phrases().encode(Sentence(text, ids, starts), "\t".join(phrases))


def expected_numbers(encoder, text, phrases):
    """Count by brute force how many visible characters are left from each start on."""
    ((_, starts),) = encoder.encode_with_starts([text])
    data = text.encode()
    owners = [k for k, phrase in enumerate(phrases) for _ in "".join(phrase.split())]
    raw = []
    for start in starts:
        left = len("".join(data[start:].decode().split()))
        raw.append(owners[min(len(owners) - left, len(owners) - 1)])
    order = sorted(set(raw))
    return [order.index(k) + 1 for k in raw]


@pytest.mark.parametrize("cut", CUTS)
def test_tokens_belong_to_the_phrase_of_their_first_visible_character(model, cut):
    phrases, text = cut.split("|"), cut.replace("|", "")
    ids, numbers = encode(model, text, phrases)
    assert ids == SubwordEncoder(model).encode(text)
    assert numbers == expected_numbers(SubwordEncoder(model), text, phrases)


def test_by_hand():
    # "can" ends and "not" begins inside the second token: only "not" has no token of its own.
    assert phrase_numbers("we cannot go", [0, 2, 9], ["we", "can", "not", "go"]) == [1, 2, 3]
    assert phrase_numbers("we cannot go", [0, 2, 6, 9], ["we", "can", "not", "go"]) == [1, 2, 3, 4]
    # A token that is a blank goes with what follows.
    assert phrase_numbers("a b", [0, 1, 2], ["a", "b"]) == [1, 2, 2]
    assert phrase_numbers("ä b", [0, 2, 3], ["ä", "b"]) == [1, 2, 2]
    assert Phrases().end([1, 2, 2]) == 3
    assert Phrases().end([]) == 1


def test_normalised_characters_by_hand():
    model = normalising_model(LINES)
    encoder = SubwordEncoder(model)
    ids, numbers = encode(model, "the ﬁre ＡＢＣ", ["the", "ﬁ", "re", "ＡＢＣ"])
    assert encoder.decode(ids) == "the fire ABC"
    spelt = {}
    for piece, number in zip(encoder.pieces(ids), numbers, strict=True):
        spelt[number] = spelt.get(number, "") + piece
    # "fi" is one character of the text, so all of it is in one phrase.
    assert spelt[1] == "▁the" and spelt[2].startswith("▁fi") and spelt[max(spelt)] == "▁ABC"


def test_the_graph_gives_the_same_numbers(model):
    draw = random.Random(1)
    texts = [cut.replace("|", "") for cut in CUTS]
    phrases = [cut.split("|") for cut in CUTS]
    for pair in grammar.generate("dev", 20):
        texts.append(pair.source)
        phrases.append(Phrases().read(pair.source, pair.tree).split("\t"))
    glue = ["\t", " \t", "\t\u3000 "]
    joined = [draw.choice(glue).join(cut) for cut in phrases]
    expected = [encode(model, *pair) for pair in zip(texts, phrases, strict=True)]
    ends = [Phrases().end(numbers) for _, numbers in expected]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)] * 2)
    def in_graph(texts, phrases):
        ids, starts = TfSubwords(model).encode_with_starts(texts)
        numbers = Phrases().encode_in_graph(texts, starts, phrases)
        return ids, numbers, Phrases().end_in_graph(numbers)

    ids, numbers, found_ends = in_graph(tf.constant(texts), tf.constant(joined))
    assert list(zip(ids.to_list(), numbers.to_list(), strict=True)) == expected
    assert found_ends.numpy().tolist() == ends
    ids, numbers, found_ends = in_graph(tf.constant([""]), tf.constant([""]))
    assert (ids.to_list(), numbers.to_list(), found_ends.numpy().tolist()) == ([[]], [[]], [1])


def test_phrases_of_another_sentence_are_refused(model):
    with pytest.raises(UserError, match=r"the phrases 'a \| c' do not spell the sentence 'a b'"):
        encode(model, "a b", ["a", "c"])
    _, starts = TfSubwords(model).encode_with_starts(["a b"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="phrases must be the text with tabs"):
        Phrases().encode_in_graph(tf.constant(["a b"]), starts, tf.constant(["a\tc"]))


def test_trees_are_read_as_phrases():
    phrases = annotation_of(PHRASES)
    assert type(phrases) is Phrases
    assert phrases.read("The dog cannot  swim.", TREE) == "The dog\tcannot swim\t."
    assert phrases.read(" ", "") == ""
    with pytest.raises(UserError, match="the brackets do not match"):
        phrases.read("The dog", "(S The")
