import random

import pytest
import sentencepiece

from t2t_phrase import grammar
from t2t_phrase.config import UserError
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.tf_subwords import TfSubwords
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.trees.subword_phrases import cut_by_tree, cut_lines, subword_phrases, with_eos

LINES = [
    "the dog can not find ﬁre in the fire",
    "Cafe\u0301 ＡＢＣ １２ café ABC 12",
    "two  blanks\u3000wide 🙂 smile",
    "the dogs cannot find the finest cafe",
] * 3
# Bars separate the segments.
CUTS = [
    "the dog|can|not find",
    "the dogs| can|not |find",
    "ﬁre in| the fire",
    "the ﬁ|nest",
    "Cafe|\u0301 ＡＢ|Ｃ １|２",
    "two|  blanks|\u3000wide",
    "🙂🙂| smile|🙂 日本|語",
    "| the|dog|| cannot|",
    "a",
    "",
    "  ",
]


def nfkc_model():
    """Return a SentencePiece model that normalises text, as foreign models may."""
    path = {"sentence_iterator": iter(LINES), "model_writer": (writer := _Writer())}
    sentencepiece.SentencePieceTrainer.train(
        **path,
        model_type="bpe",
        vocab_size=340,
        byte_fallback=True,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        normalization_rule_name="nmt_nfkc",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return b"".join(writer.parts)


class _Writer:
    def __init__(self):
        self.parts = []

    def write(self, data):
        self.parts.append(data)


@pytest.fixture(scope="module", params=["ours", "nfkc"])
def model(request):
    return train_subwords(LINES, vocab_size=340) if request.param == "ours" else nfkc_model()


def expected_numbers(encoder, text, phrases):
    """By brute force: a subword begins where the text before it ends, told by the pieces' ends."""
    ((ids, starts),) = encoder.encode_with_starts([text])
    data = text.encode()
    owners = [k for k, phrase in enumerate(phrases) for _ in "".join(phrase.split())]
    raw = []
    for start in starts:
        # The first visible character from there on, found by counting the remaining ones.
        left = len("".join(data[start:].decode().split()))
        raw.append(owners[min(len(owners) - left, len(owners) - 1)])
    order = sorted(set(raw))
    return ids, [order.index(k) + 1 for k in raw]


@pytest.mark.parametrize("cut", CUTS)
def test_subwords_are_in_the_phrase_of_their_first_visible_character(model, cut):
    encoder = SubwordEncoder(model)
    phrases = cut.split("|") if cut.strip() else []
    text = cut.replace("|", "")
    ids, numbers = encoder.encode_with_phrases(text, phrases)
    assert ids == encoder.encode(text)
    assert (ids, numbers) == expected_numbers(encoder, text, phrases)


def test_by_hand():
    # "can" ends and "not" begins inside the second subword, so no subword begins in "not".
    assert subword_phrases("we cannot go", [0, 2, 9], ["we", "can", "not", "go"]) == [1, 2, 3]
    assert subword_phrases("we cannot go", [0, 2, 6, 9], ["we", "can", "not", "go"]) == [1, 2, 3, 4]
    # A subword of whitespace belongs to the segment that follows.
    assert subword_phrases("a b", [0, 1, 2], ["a", "b"]) == [1, 2, 2]
    assert subword_phrases("ä b", [0, 2, 3], ["ä", "b"]) == [1, 2, 2]
    assert with_eos([1, 2, 2]) == [1, 2, 2, 3]
    assert with_eos([]) == [1]


def test_normalised_characters_by_hand():
    encoder = SubwordEncoder(nfkc_model())
    ids, numbers = encoder.encode_with_phrases("the ﬁre ＡＢＣ", ["the", "ﬁ", "re", "ＡＢＣ"])
    assert encoder.decode(ids) == "the fire ABC"
    pieces = encoder.pieces(ids)
    spelt = {}
    for piece, number in zip(pieces, numbers, strict=True):
        spelt[number] = spelt.get(number, "") + piece
    # "fi" is one character of the text, so it is in one segment for any subwords.
    assert spelt[1] == "▁the" and spelt[2].startswith("▁fi") and spelt[max(spelt)] == "▁ABC"


def test_the_graph_gives_the_same_numbers(model):
    encoder, graph = SubwordEncoder(model), TfSubwords(model)
    draw = random.Random(1)
    texts = [cut.replace("|", "") for cut in CUTS]
    phrases = [cut.split("|") if cut.strip() else [] for cut in CUTS]
    for pair in grammar.generate("dev", 20):
        texts.append(pair.source)
        phrases.append(cut_by_tree(pair.source, pair.tree))
    glue = ["\t", " \t", "\t\u3000 "]
    joined = [draw.choice(glue).join(cut) for cut in phrases]
    ids, numbers = graph.encode_with_phrases(texts, joined)
    found = list(zip(ids.to_list(), numbers.to_list(), strict=True))
    assert found == [
        encoder.encode_with_phrases(*pair) for pair in zip(texts, phrases, strict=True)
    ]
    none = graph.encode_with_phrases([""], [""])
    assert [side.to_list() for side in none] == [[[]], [[]]]


def test_phrases_of_another_sentence_are_refused(model):
    with pytest.raises(UserError, match=r"the segments 'a \| c' do not spell the sentence 'a b'"):
        SubwordEncoder(model).encode_with_phrases("a b", ["a", "c"])
    with pytest.raises(ValueError, match="phrases must be the text with tabs"):
        try:
            TfSubwords(model).encode_with_phrases(["a b"], ["a\tc"])
        except Exception as error:
            raise ValueError(str(error)) from error


TREE = "(S (NP (DT The) (NN dog)) (VP (MD can) (RB not) (VP (VB swim))) (. .))"


def test_sentences_are_cut_by_their_trees():
    assert cut_by_tree("The dog cannot  swim.", TREE) == ["The dog", "cannot swim", "."]
    assert cut_by_tree(" ", "") == []
    assert cut_lines(["The dog cannot swim.", ""], [TREE, " "], "x.trees")[1] == []


def test_trees_that_do_not_fit_are_named_by_line():
    with pytest.raises(UserError, match=r"^x\.trees:2: word 1 of the tree is 'The'"):
        cut_lines(["The dog cannot swim.", "A dog"], [TREE, TREE], "x.trees")
    with pytest.raises(UserError, match=r"^x\.trees:1: the line is empty"):
        cut_lines(["A dog"], [""], "x.trees")
    with pytest.raises(UserError, match=r"x\.trees has 1 trees for 2 sentences"):
        cut_lines(["A dog", "b"], [TREE], "x.trees")
