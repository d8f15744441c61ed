"""BLEU with Moses' tokenizer against sacreBLEU's on text that is tokenised already."""

import sys

import pytest
from sacrebleu.metrics import BLEU
from toy_run import call

from t2t_phrase.bin import eval as eval_command
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.evaluation.significance import paired_bootstrap

sacremoses = pytest.importorskip("sacremoses")
REFERENCES = ["Ein Mann, der „Hallo“ sagt.", "Zwei T-Shirts, z. B. um 3.50 Euro.", "Er läuft weg!"]
HYPOTHESES = ['ein Mann , der "Hallo" sagt.', "Zwei T-Shirts für 3.50 Euro.", "Er läuft weg !"]


def tokenized(lines):
    normalizer = sacremoses.MosesPunctNormalizer("de")
    tokenizer = sacremoses.MosesTokenizer("de")
    return [" ".join(tokenizer.tokenize(normalizer.normalize(x), escape=False)) for x in lines]


@pytest.mark.parametrize("lowercase", [False, True])
def test_it_is_bleu_of_tokenised_text(lowercase):
    found = corpus_score("bleu", HYPOTHESES, REFERENCES, tokenize="moses-de", lowercase=lowercase)
    texts = [[x.lower() for x in t] if lowercase else t for t in (HYPOTHESES, REFERENCES)]
    expected = BLEU(tokenize="none").corpus_score(tokenized(texts[0]), [tokenized(texts[1])])
    assert found.value == pytest.approx(expected.score, abs=1e-9)
    case = "lc" if lowercase else "mixed"
    assert f"case:{case}|eff:no|tok:moses-de-norm-sacremoses-" in found.signature


def test_systems_are_compared_with_it():
    (found,) = paired_bootstrap(
        REFERENCES, HYPOTHESES, REFERENCES, tokenize="moses-de", resamples=100
    )
    assert found.value == pytest.approx(100) and "tok:moses-de-norm" in found.signature


def test_the_command_prints_its_signature(tmp_path, capsys):
    for name, lines in (("t", HYPOTHESES), ("r", REFERENCES)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    files = [f"--translation={tmp_path}/t", f"--reference={tmp_path}/r"]
    call(eval_command, *files, "--tokenize=moses-de", "--lowercase")
    assert "case:lc|eff:no|tok:moses-de-norm-sacremoses-" in capsys.readouterr().out
    with pytest.raises(UserError, match="expected moses-LANGUAGE, such as moses-de"):
        call(eval_command, *files, "--tokenize=moses-deutsch")


def test_without_the_package_the_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(UserError, match=r"pip install 't2t_phrase\[moses\]'"):
        corpus_score("bleu", HYPOTHESES, REFERENCES, tokenize="moses-de")
