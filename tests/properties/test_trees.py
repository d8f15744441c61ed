"""Penn trees, phrase files and numbers of words: only documented errors, in linear time."""

import contextlib
import itertools
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from t2t_phrase.config import UserError
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.annotations.phrases import Phrases, phrase_numbers
from t2t_phrase.text.annotations.word_numbers import WordNumbers
from t2t_phrase.text.trees.cut_by_tree import cut_by_tree
from t2t_phrase.text.trees.trees import TreeError, escaped, read_tree, words
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

ENCODER = WordEncoder(train_words(["a b ü"], vocab_size=10))
SOUP = st.lists(
    st.sampled_from([*"() \tabé", "(S ", "(X a)", "-LRB-", "''", "\u2028", "\xa0", "\x00", "()"])
).map("".join)
WORDS = st.lists(st.text("ab(ü[\"'’-", min_size=1, max_size=4), min_size=1, max_size=12)


@st.composite
def tree_and_sentence(draw: st.DrawFn) -> tuple[str, str]:
    """Return a tree of any shape and the sentence that it spells."""
    sentence = draw(WORDS)
    parts = [f"(X {escaped(word)})" for word in sentence]
    while len(parts) > 1:
        start = draw(st.integers(0, len(parts) - 2))
        end = draw(st.integers(start + 1, len(parts)))
        parts[start:end] = [f"(Y {' '.join(parts[start:end])})"]
        if end - start == 1 and draw(st.booleans()):
            parts = [f"(Z {' '.join(parts)})"]
    return parts[0], " ".join(sentence)


@given(sentence=SOUP, tree=SOUP)
@example(sentence="a", tree="")
@example(sentence="", tree="()")
def test_any_text_is_a_tree_or_a_tree_error(sentence: str, tree: str) -> None:
    try:
        segments = cut_by_tree(sentence, tree)
    except TreeError as error:
        assert len(str(error)) < 300
    else:
        assert "".join("".join(segments).split()) == "".join(sentence.split())


@given(tree_and_sentence())
def test_the_segments_of_a_tree_spell_its_sentence(pair: tuple[str, str]) -> None:
    tree, sentence = pair
    assert "".join(cut_by_tree(sentence, tree)) == "".join(sentence.split()) or (
        " ".join(cut_by_tree(sentence, tree)) == sentence
    )


@given(WORDS)
def test_escaped_words_come_back(sentence: list[str]) -> None:
    tree = read_tree(f"(S {' '.join(f'(X {escaped(word)})' for word in sentence)})")
    back = [word.replace("-LRB-", "(").replace("-RRB-", ")") for word in words(tree)]
    assert back == sentence


N = 100_000
DEEP = {
    "unary": ("a", "(S " * N + "a" + ")" * N),
    "left": ("a " * N, "(S " * N + "(X a)) " * N),
    "right": ("a " * N, "(S (X a) " * N + ")" * N),
    "opening": ("a", "(" * N),
    "closing": ("a", ")" * N),
    "empty": ("a", "(S " + "()" * N + ")"),
    "flat": ("a " * 30_000, "(S " + "(X a) " * 30_000 + ")"),
}


@pytest.mark.parametrize("name", DEEP)
def test_huge_trees_take_linear_time_and_no_recursion(name: str) -> None:
    start = time.process_time()
    if name == "flat":
        assert len(cut_by_tree(*DEEP[name])) == 30_000 // 8
    else:
        with pytest.raises(TreeError, match=r"nested|do not match|no words"):
            cut_by_tree(*DEEP[name])
    assert time.process_time() - start < 10


@given(text=SOUP, phrases=SOUP, numbers=st.text("0123456789- ٣\t", max_size=30))
def test_annotations_fit_or_are_refused(text: str, phrases: str, numbers: str) -> None:
    ids, starts = ENCODER.encode_with_starts([text])[0]
    own = Sentence(text, ids, starts)
    for annotation, line in ((Phrases(), phrases), (WordNumbers(), numbers)):
        with contextlib.suppress(UserError):
            assert len(annotation.encode(own, line)) == len(ids)
        with contextlib.suppress(UserError):
            assert len(annotation.encode(own, annotation.read(text, line))) == len(ids)


@given(WORDS, st.data())
def test_phrases_are_numbered_without_gaps(sentence: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.lists(st.sampled_from(" \t"), min_size=len(sentence)))
    line = "".join(word + end for word, end in zip(sentence, cut, strict=False))
    text = " ".join(sentence)
    starts = ENCODER.encode_with_starts([text])[0][1]
    numbers = phrase_numbers(text, starts, line.split("\t"))
    assert numbers[0] == 1
    assert all(later - before in (0, 1) for before, later in itertools.pairwise(numbers))
