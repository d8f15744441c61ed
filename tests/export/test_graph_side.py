"""The graph encodes text as `decoding.sides` does."""

import pytest
import tensorflow as tf
from hard_text import CUTS, LINES, blank_keeping_model, normalising_model

from t2t_phrase.decoding.sides import encode_side, tokenize
from t2t_phrase.export.graph_side import GraphSide
from t2t_phrase.text.subwords.encoder import SubwordEncoder

TEXTS = [
    *(cut.replace("|", "") for cut in CUTS),
    "  the dog",
    "the dog\t\u3000",
    "\u2028",
    "\x85 \x1ccat\r\n",
]


@pytest.mark.parametrize("max_tokens", [0, 5])
@pytest.mark.parametrize("make", [normalising_model, blank_keeping_model])
def test_vocabularies_of_others_give_the_same_ids(make, max_tokens):
    model = make(LINES)
    sentences = tokenize(SubwordEncoder(model), TEXTS, starts=False)
    expected = encode_side("source", sentences, max_tokens=max_tokens)
    side = GraphSide("source", model, [])
    found, cut = side.encode(tf.constant(TEXTS), max_tokens=max_tokens)
    assert [row[row > 0].tolist() for row in found["inputs"].numpy()] == expected.ids
    assert cut.numpy().nonzero()[0].tolist() == expected.cut
    # What else is looked up in the text is looked up in the text of these tokens.
    read = side.read(tf.constant(TEXTS), 0)
    assert [text.decode() for text in read.numpy()] == [sentence.text for sentence in sentences]
