"""The lists of --registry_help against what is registered."""

import subprocess
import sys

import pytest

from t2t_phrase import registry
from t2t_phrase.bin import registry_help
from t2t_phrase.config import UserError
from t2t_phrase.models.parameter_count import count_parameters


def test_the_kept_list_is_what_is_registered():
    # Parameters take half a minute for all sets.
    kept = registry_help.kept()
    registry.discover()
    again = "run: python -m t2t_phrase.bin.registry_help"
    for title, names in (
        (registry_help.PROBLEMS, registry.problems),
        (registry_help.MODELS, registry.models),
        (registry_help.SETS, registry.hparams),
    ):
        own = {entry.name: entry.summary for entry in kept[title]}
        # Other tests register names of their own.
        for name, summary in own.items():
            assert registry_help._summary(names[name]) == summary, again
        missing = [
            n
            for n in names
            if n not in own
            and names[n].__module__.startswith(
                ("t2t_phrase.problems", "t2t_phrase.hparams", "t2t_phrase.models", "problems")
            )
        ]
        assert not missing, again


@pytest.mark.parametrize("name", ["transformer_base", "phrase_interleaved_queryk_1_2_30k"])
def test_parameters_are_those_of_the_model(name):
    (entry,) = [e for e in registry_help.kept()[registry_help.SETS] if e.name == name]
    registry.discover()
    vocabulary = 37_000 if name == "transformer_base" else 8_000
    millions = count_parameters(registry.hparams[name](), vocab_size=vocabulary) / 1e6
    assert entry.about.startswith(f"{millions:5.1f}M, {vocabulary:,} subwords")
    assert entry.about.endswith("30k pairs") == name.endswith("30k")


def test_words_and_titles_choose():
    lines = registry_help.registered("queryk_1_2_30K")
    assert lines[0] == "Hparams sets:" and all("queryk_1_2_30k" in line for line in lines[1:])
    only = registry_help.registered("all", titles=(registry_help.PROBLEMS,))
    assert only[0].startswith("Problems") and "Models:" not in only
    with pytest.raises(
        UserError, match="no name or description contains it; did you mean transformer_base"
    ):
        registry_help.registered("transformer_baze")


def test_nothing_is_imported_for_it():
    code = (
        "import sys; from t2t_phrase.bin import registry_help as r; r.registered('luong');"
        "print([m for m in ('tensorflow', 'keras', 'numpy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
