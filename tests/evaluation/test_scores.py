import math
import sys
import unicodedata

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.evaluation.scores import Score, corpus_score, make_metric


def test_bleu_by_hand():
    # 5 of 6 words, 3 of 5 bigrams, 2 of 4 trigrams, 1 of 3 4-grams; one word too short.
    score = corpus_bleu(["a b c d e f"], ["a b c d x f g"])
    expected = 100 * math.exp(1 - 7 / 6) * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert score.value == pytest.approx(expected)
    assert score.name == "BLEU"
    penalty = math.exp(1 - 7 / 6)
    assert score.parts == (
        f"83.3/60.0/50.0/33.3 (BP = {penalty:.3f} ratio = {6 / 7:.3f} hyp_len = 6 ref_len = 7)"
    )
    assert corpus_score("chrf", ["a"], ["a"]).parts == ""


def test_bleu_is_that_of_the_corpus_not_a_mean_of_sentences():
    sentences = ["a b c d e", "v w x y z"]
    assert corpus_bleu(sentences, ["a b c d e", "v w x y q"]).value == pytest.approx(
        100 * (9 / 10 * 7 / 8 * 5 / 6 * 3 / 4) ** 0.25
    )


def test_signature_names_what_was_done():
    assert "case:mixed|eff:no|tok:13a|smooth:exp|version:" in corpus_bleu(["a"], ["a"]).signature
    score = corpus_bleu(["a"], [["a"], ["b"]], tokenize="intl", lowercase=True)
    assert score.signature.startswith("nrefs:2|case:lc|eff:no|tok:intl|")


def test_several_references_count_the_best_match():
    hypotheses = ["a b c d", "e f g h"]
    first, second = ["a b c d", "x x x x"], ["y y y y", "e f g h"]
    assert corpus_bleu(hypotheses, first).value < 80
    assert corpus_bleu(hypotheses, [first, second]).value == pytest.approx(100)


def test_lowercase():
    assert corpus_bleu(["Das Haus ist alt"], ["das haus ist alt"]).value < 80
    for metric in ("bleu", "chrf"):
        score = corpus_score(metric, ["Das Haus ist alt"], ["das haus ist alt"], lowercase=True)
        assert score.value == pytest.approx(100)
    assert corpus_score("ter", ["Das Haus"], ["das haus"], lowercase=True).value == 0
    assert corpus_score("ter", ["Das Haus"], ["das haus"]).value == 100


def t2t_bleu_tokenize(line):
    """The international tokenisation of mteval-v14, character by character."""
    out = []
    for i, char in enumerate(line):
        kind = unicodedata.category(char)[0]
        before = i > 0 and unicodedata.category(line[i - 1])[0] == "N"
        after = i + 1 < len(line) and unicodedata.category(line[i + 1])[0] == "N"
        between = before and after
        apart = kind == "S" or (kind == "P" and not between)
        out.append(f" {char} " if apart else char)
    return " ".join("".join(out).split())


def test_intl_reproduces_t2t_bleu():
    hypotheses = ["„Er kostet 3.500,50 €“, sagte sie – heute.", "Ein Haus (alt) mit 5-10 Zimmern!"]
    references = ["„Er kostet 3.500,50 $“, sagte er – heute.", "Ein Haus (neu) mit 5-10 Zimmern!"]
    by_hand = corpus_bleu(
        [t2t_bleu_tokenize(line) for line in hypotheses],
        [t2t_bleu_tokenize(line) for line in references],
        tokenize="none",
    )
    intl = corpus_bleu(hypotheses, references, tokenize="intl")
    assert intl.value == pytest.approx(by_hand.value)
    assert intl.value != pytest.approx(corpus_bleu(hypotheses, references).value)


def test_ter_by_hand():
    # One substitution and one deletion, six reference words.
    score = corpus_score("ter", ["a x c d e"], ["a b c d e f"])
    assert (score.name, score.value) == ("TER", pytest.approx(100 * 2 / 6))


def test_chrf_is_perfect_only_for_equal_text():
    assert corpus_score("chrf", ["ein Haus"], ["ein Haus"]).value == pytest.approx(100)
    score = corpus_score("chrf", ["ein Haus"], ["ein Baum"])
    assert score.name == "chrF2" and 0 < score.value < 100
    assert "nc:6" in score.signature


def test_chrf_with_words_by_hand():
    # One to three characters, then one and two words; each precision equals its recall.
    score = corpus_score("chrf++", ["a bc"], ["a bd"])
    mean = (2 / 3 + 1 / 2 + 0 + 1 / 2 + 0) / 5
    assert (score.name, score.value) == ("chrF2++", pytest.approx(100 * mean))
    assert "nw:2" in score.signature


def test_empty_translations_score_nothing():
    assert corpus_bleu(["", ""], ["a b c d", "e f g h"]).value == 0


def test_a_score_prints_value_and_signature():
    assert str(Score("BLEU", 27.456, "tok:13a")) == "BLEU = 27.46  tok:13a"


def test_mistakes_are_named():
    with pytest.raises(UserError, match="translation has 2 lines and the reference has 1;"):
        corpus_bleu(["a", "b"], ["a"])
    with pytest.raises(UserError, match="2 lines and reference 2 has 1;"):
        corpus_bleu(["a", "b"], [["a", "b"], ["a"]])
    with pytest.raises(UserError, match="no sentences"):
        corpus_bleu([], [])
    with pytest.raises(UserError, match="metric 'blue' is unknown; did you mean bleu"):
        corpus_score("blue", ["a"], ["a"])
    with pytest.raises(UserError, match="tokenize '13b' is unknown; did you mean 13a"):
        corpus_bleu(["a"], ["a"], tokenize="13b")


def test_a_tokenizer_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(UserError, match="tokenize 'ja-mecab' cannot be used"):
        corpus_bleu(["a"], ["a"], tokenize="ja-mecab")


def test_scored_sentences_are_not_kept():
    for tokenize in ("13a", "intl"):
        corpus_score("bleu", ["A cat."], ["A dog."], tokenize=tokenize)
        scorer = make_metric("bleu", tokenize=tokenize, lowercase=False)
        assert type(scorer.tokenizer).__call__.cache_info().currsize == 0
    parts = type(make_metric("bleu", tokenize="13a", lowercase=False).tokenizer._post_tokenizer)
    assert parts.__call__.cache_info().currsize == 0


@pytest.mark.parametrize("tokenize,warned", [("none", False), ("13a", True)])
def test_only_text_that_is_tokenised_twice_is_warned_of(tokenize, warned, caplog):
    lines = [f"word {number} ." for number in range(100)]
    corpus_score("bleu", lines, lines, tokenize=tokenize)
    assert ("forgot to detokenize" in caplog.text) is warned
