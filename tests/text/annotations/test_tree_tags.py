import pytest

from t2t_phrase.config import UserError
from t2t_phrase.features import MOST_TAG_LEVELS, RARE_TAG, TAG_CLASSES, TAGS
from t2t_phrase.text.annotations.base import Sentence, annotation_of
from t2t_phrase.text.annotations.tree_tags import TreeTags

BUSH = (
    "(ROOT (S (NP (NNP Bush)) (VP (VBD held) (NP (DT a) (NN talk)) (PP (IN with) (NP (NNP "
    "Sharon))))))"
)
LABELS = ["NP", "VP", "VBD", "PP"]


def classes(code):
    return [code // TAG_CLASSES**level % TAG_CLASSES for level in range(MOST_TAG_LEVELS)]


def test_labels_of_figure_1():
    text = TreeTags().read("Bush held a talk with Sharon", BUSH)
    assert text.split("\t") == [
        *("Bush", "NP NP NP NP", "held", "VP VBD VBD VBD", "a", "VP NP DT DT"),
        *("talk", "VP NP NN NN", "with", "VP PP IN IN", "Sharon", "VP PP NP NP"),
    ]
    assert list(TreeTags().labels(text)).count("VP") == 5


def test_each_token_has_the_classes_of_its_word():
    # Bush, he, ld, a talk (one token), with, Sharon; the labels of a word are those of its first
    # visible character.
    sentence = "Bush held a talk with Sharon"
    starts = [0, 4, 7, 9, 16, 21]
    annotation = annotation_of(TAGS).with_labels(LABELS)
    text = annotation.read(sentence, BUSH)
    found = annotation.encode(Sentence(sentence, (), starts), text)
    np, vp, vbd, pp = range(RARE_TAG + 1, RARE_TAG + 5)
    assert [classes(code) for code in found] == [
        [np, np, np, np],
        [vp, vbd, vbd, vbd],
        [vp, vbd, vbd, vbd],
        [vp, np, RARE_TAG, RARE_TAG],
        [vp, pp, RARE_TAG, RARE_TAG],
        [vp, pp, np, np],
    ]
    assert annotation.end(found) == 0
    assert annotation.read("", " ") == "" and annotation.encode(Sentence("", (), ()), "") == []


def test_codes_of_the_last_classes_fit_in_32_bits():
    annotation = TreeTags().with_labels([f"L{i}" for i in range(TreeTags.most_labels)])
    last = f"L{TreeTags.most_labels - 1}"
    (code,) = annotation.encode(Sentence("a", (), [0]), f"a\t{' '.join([last] * 9)}")
    assert classes(code) == [TAG_CLASSES - 1] * MOST_TAG_LEVELS and code < 2**31


def test_lines_that_do_not_fit():
    with pytest.raises(UserError, match="word 1 of the tree is 'dog'"):
        TreeTags().read("cat", "(NN dog)")
