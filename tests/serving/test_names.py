import pytest

from t2t_phrase.config import UserError
from t2t_phrase.serving.names import model_name


@pytest.mark.parametrize(
    "given, folder, expected",
    [
        (None, "runs/ende", "ende"),
        (None, "runs/ende/", "ende"),
        (None, "runs/ende/export", "ende"),
        (None, "runs/ende/best", "ende"),
        (None, "served", "served"),
        ("en-de_2.0~x", "runs/ende", "en-de_2.0~x"),
    ],
)
def test_names_are_those_of_folders(given, folder, expected):
    assert model_name(given, folder) == expected


def test_a_checkpoint_has_the_name_of_its_run(tmp_path):
    best = tmp_path / "ende" / "best"
    best.mkdir(parents=True)
    for place in (best, best.parent):
        (place / "model.ckpt-100.index").touch()
        assert model_name(None, f"{place}/model.ckpt-100") == "ende"


@pytest.mark.parametrize("given", ["a/b", "a:b", "", "a b", "\u00fc", "a\n"])
def test_other_names_are_refused(given):
    with pytest.raises(UserError, match=r"--model_name=.*: the name is part of URLs"):
        model_name(given, "runs/ende")
    if "/" not in given and given:
        with pytest.raises(UserError, match="from "):
            model_name(None, f"runs/{given}")
