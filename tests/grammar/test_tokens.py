import pytest

from t2t_phrase_grammar import detokenize, tokenize

CASES = {
    "The man's dog cannot sleep.": "The man 's dog can not sleep .",
    "Cannot she come?": "Can not she come ?",
    "Perhaps, he left!": "Perhaps , he left !",
    "Ein U-Boot, das grün ist.": "Ein U-Boot , das grün ist .",
    "The cannibal is here.": "The cannibal is here .",
}


@pytest.mark.parametrize("text", CASES)
def test_there_and_back(text):
    assert " ".join(tokenize(text)) == CASES[text]
    assert detokenize(tokenize(text)) == text
