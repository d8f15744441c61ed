import pytest

from t2t_phrase.api.file_scoring import FileScoring
from t2t_phrase.api.text_files import Beside
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams


def test_unknown_modes_and_formats_are_refused():
    with pytest.raises(UserError, match="dictionary_mode: expected one of guide, require, got 'r"):
        Beside(dictionary="x", dictionary_mode="required")
    with pytest.raises(UserError, match="n_best_format: expected one of text, json, got 'JSON'"):
        Beside(n_best_format="JSON")


@pytest.mark.parametrize(
    "given", [{"n_best_format": "json"}, {"dictionary": "x"}, {"prefix_file": "x"}]
)
def test_what_scores_do_not_depend_on_is_refused(given):
    (pair,) = given.items()
    with pytest.raises(UserError, match="--{}={}: cannot be used with --score_file".format(*pair)):
        FileScoring(DecodeHParams(), pairs="in", target=None, beside=Beside(**given))
