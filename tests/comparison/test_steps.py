"""Commands that are interrupted or have other flags."""

import pytest
from recipes import changed_recipe

from t2t_phrase.comparison import runs, steps

SET = "transformer_tiny"


def test_flags_are_recorded_only_for_their_own_output(recipe, monkeypatch):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    changed = changed_recipe(recipe, decode_hparams="beam_size=3")
    write = steps.call

    def call(*arguments):
        write(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "call", call)
    with pytest.raises(KeyboardInterrupt):
        runs.finish(changed, SET, 7, train=True)
    monkeypatch.setattr(steps, "call", write)
    runs.finish(recipe, SET, 7, train=True)
    assert ran[4:] == ["decoder", "decoder"]
