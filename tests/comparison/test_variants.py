"""Sets with changes of their own."""

import pytest

from t2t_phrase.comparison import variants
from t2t_phrase.config import HParamsError


def test_a_plain_set_has_no_changes():
    assert variants.split("transformer_tiny") == ("transformer_tiny", "")
    assert variants.split("transformer_tiny", "norm=post") == ("transformer_tiny", "norm=post")
    assert variants.file_name("transformer_tiny") == "transformer_tiny"


def test_the_changes_of_a_set_win():
    name = "transformer_tiny:norm=pre+pos=none"
    assert variants.split(name) == ("transformer_tiny", "norm=pre,pos=none")
    assert variants.split(name, "batch_size=7,norm=post") == (
        "transformer_tiny",
        "batch_size=7,norm=pre,pos=none",
    )


def test_lists_are_values():
    name = "transformer_tiny:optimizer_options=[use_ema=true,ema_momentum=0.9]+norm=post"
    expected = "optimizer_options=[use_ema=true,ema_momentum=0.9],norm=post"
    assert variants.split(name)[1] == expected


def test_values_may_contain_a_plus_sign():
    name = "transformer_tiny:learning_rate_constant=1e+3+norm=post"
    assert variants.split(name)[1] == "learning_rate_constant=1e+3,norm=post"


@pytest.mark.parametrize("changes", ["norm", "norm=pre+norm=post"])
def test_wrong_changes_are_refused(changes):
    with pytest.raises(HParamsError, match="norm"):
        variants.split(f"transformer_tiny:{changes}")


def test_file_names_have_no_separators_of_lists():
    name = "transformer_tiny:learning_rate_schedule=constant*decay+optimizer_options=[a=1,b=2]"
    expected = "transformer_tiny-learning_rate_schedule=constant-decay-optimizer_options=-a=1-b=2"
    assert variants.file_name(name) == expected
    ends = {variants.file_name(f"transformer_tiny:clip_norm=1e{sign}1") for sign in "+-"}
    assert len(ends) == 2
