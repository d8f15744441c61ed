"""Mistakes that are found without the model."""

import pytest

from t2t_phrase import registry
from t2t_phrase.api.file_translation import FileTranslation
from t2t_phrase.api.text_files import Beside
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams

REQUIRED = {"dictionary": "terms", "dictionary_mode": "require"}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in", "prefixes", "terms"):
        (tmp_path / name).write_text("a\tb\n")
    monkeypatch.setitem(registry.searches._entries, "other", lambda *given: None)


def start(options, **beside):
    hparams = DecodeHParams().override(options)
    FileTranslation(hparams, source="in", target="out", beside=Beside(**beside))


@pytest.mark.parametrize(
    ("options", "beside", "message"),
    [
        ("search=beam_serch", {}, "search 'beam_serch' is unknown; did you mean beam_search"),
        ("alignment_threshold=0.3", {}, "is only used with --alignment_model_dir"),
        (
            "alignment_layers=[1],write_alignments=true",
            {"alignment_model_dir": "x"},
            "has no effect with --alignment_model_dir",
        ),
        ("search=other", {"prefix_file": "prefixes"}, "search=other: prefixes and"),
        ("search=other", REQUIRED, "search=other: prefixes and"),
        ("beam_size=1", REQUIRED, r"beam_size=1: required terms .* need beam search"),
        ("sampling_temp=1", REQUIRED, r"sampling_temp=1.0: required terms .* need beam"),
        ("num_groups=2,diversity_strength=1", REQUIRED, "num_groups=2: required terms"),
    ],
)
def test_mistakes_are_found_without_the_model(options, beside, message):
    with pytest.raises(UserError, match=message):
        start(options, **beside)


def test_what_fits_together_is_accepted():
    start("beam_size=1", prefix_file="prefixes")
    start("search=beam_search", **REQUIRED, prefix_file="prefixes")
