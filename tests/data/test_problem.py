import pytest

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.corpus_sizes import SIZES
from t2t_phrase.data.problem import Problem, get_problem
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.registry import UnknownNameError


def test_the_suffix_reverses():
    problem = get_problem("translate_ende_multi30k_rev")
    assert problem.reversed and problem.name == "translate_ende_multi30k_rev"
    assert problem.base_name == "translate_ende_multi30k"
    assert (problem.source_language, problem.target_language) == ("de", "en")
    assert not get_problem("translate_ende_multi30k").reversed


def test_the_suffix_cannot_be_a_name():
    with pytest.raises(TypeError, match="_rev marks a direction"):
        type("TranslateXyRev", (Problem,), {})


@pytest.mark.parametrize("languages", [None, ("en",), ("en", "en")])
def test_two_different_languages_are_required(languages):
    # The files of equal ones would have the same names.
    members = {"languages": languages} if languages else {}
    with pytest.raises(UserError, match=r"problem paraphrase: languages = .* two different ones"):
        type("Paraphrase", (LocalProblem,), members)()


def test_a_problem_without_a_corpus_is_named(monkeypatch):
    class TranslateNothing(Problem):
        languages = ("en", "de")

    monkeypatch.setitem(registry.problems._entries, "translate_nothing", TranslateNothing)
    with pytest.raises(UserError, match="translate_nothing: TranslateNothing does not define corp"):
        get_problem("translate_nothing")


def test_unknown_names_hint_at_near_ones():
    with pytest.raises(UnknownNameError, match="did you mean translate_ende_multi30k"):
        get_problem("translate_ende_multi30")


def test_all_problems_are_registered():
    registry.discover()
    assert set(registry.problems) >= {
        "translate_ende_grammar",
        "translate_ende_multi30k",
        "translate_ende_wmt14",
        "translate_ende_wmt16",
        "translate_enfr_multi30k",
        "translate_enfr_wmt14",
        "translate_enro_wmt16",
        "translate_enru_wmt16",
        "translate_text",
        "translate_zhen_bolt",
        "translate_zhen_nist",
    }


def test_recommended_hparams_sets_exist():
    registry.discover()
    for name in registry.problems:
        recommended = get_problem(name).hparams_set
        # By the size of the corpus, see test_given_vocabulary.
        assert recommended in registry.hparams or not recommended
    for size in SIZES:
        assert f"transformer_{size.name}" in registry.hparams
        assert f"phrase_interleaved_convkv_1_2_{size.name}" in registry.hparams


@pytest.mark.parametrize("end", ["", "_rev"])
def test_packed_problems_of_tensor2tensor_are_an_option_of_training(end):
    with pytest.raises(UserError) as caught:
        get_problem(f"translate_ende_multi30k_packed{end}")
    assert str(caught.value) == (
        f"--problem=translate_ende_multi30k_packed{end}: rows of any problem can be packed; use "
        f"--problem=translate_ende_multi30k{end} with --hparams=packed_length=256"
    )
