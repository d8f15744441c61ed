import math

import pytest

from t2t_phrase import registry
from t2t_phrase.bin.parameters import parameter_lines
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.models.parameter_count import count_parameters, variable_shapes
from t2t_phrase.models.published import PUBLISHED

registry.discover()


@pytest.mark.parametrize(
    ("name", "millions", "digits"),
    [
        ("transformer_base", 63.0, 1),
        ("transformer_base_paper", 63.0, 1),
        ("transformer_big", 214, 0),
        ("transformer_base_10l", 92.3, 1),
        ("phrase_homogeneous_convkv_4_4", 67.7, 1),
        ("phrase_homogeneous_queryk_4_4", 67.7, 1),
        ("phrase_homogeneous_convkv_3_2_3", 72.4, 1),
        ("phrase_homogeneous_queryk_3_2_3", 72.4, 1),
        ("phrase_heterogeneous_convkv_1_2", 81.9, 1),
        ("phrase_heterogeneous_queryk_1_2", 81.9, 1),
        ("phrase_heterogeneous_convkv_1_2_3", 110.2, 1),
        ("phrase_heterogeneous_queryk_1_2_3", 110.2, 1),
        ("phrase_heterogeneous_convkv_1_2_3_4", 147.9, 1),
        ("phrase_heterogeneous_queryk_1_2_3_4", 147.9, 1),
        ("phrase_heterogeneous_convkv_1_2_4l", 60.9, 1),
        ("phrase_interleaved_convkv_1_2", 97.6, 1),
        ("phrase_interleaved_queryk_1_2", 116.5, 1),
    ],
)
def test_counts_are_those_of_the_equations(name: str, millions: float, digits: int) -> None:
    shapes = variable_shapes(registry.hparams[name](), vocab_size=37_000)
    # The equations' matrices. Vectors and T2T's 32 target spaces add 0.2% and less.
    matrices = sum(
        math.prod(shape)
        for path, shape in shapes.items()
        if len(shape) > 1 and "target_space" not in path
    )
    assert round(matrices / 1e6, digits) == millions
    count = count_parameters(registry.hparams[name](), vocab_size=37_000)
    assert matrices < count < 1.002 * matrices


def test_multi30k_is_as_small_as_published() -> None:
    """2.6M with a joint vocabulary of about 10,000, all embeddings shared."""
    count = count_parameters(registry.hparams["transformer_multi30k"](), vocab_size=10_000)
    assert round(count / 1e6, 1) == 2.6


def test_the_count_is_that_of_the_model() -> None:
    hparams = registry.hparams["phrase_interleaved_queryk_1_2_demo"]()
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=50)
    assert count_parameters(hparams, vocab_size=50) == model.count_params()


def test_the_table_has_the_papers_figures_beside_ours() -> None:
    header, *lines = parameter_lines(["transformer_base", "phrase_interleaved_convkv_1_2"])
    assert header.split() == ["hparams", "set", "subwords", "millions", "paper"]
    assert lines[0].split()[:4] == ["transformer_base", "37,000", "63.1", "63"]
    assert lines[1].split()[3] == "116"
    assert "the paper has one figure" in lines[1]
    (changed,) = list(parameter_lines(["transformer_base"], overrides="num_hidden_layers=1"))[1:]
    assert len(changed.split()) == 3  # a changed set is not the paper's


def test_mistakes() -> None:
    with pytest.raises(UserError, match=r"transformer_bas.*transformer_base"):
        list(parameter_lines(["transformer_bas"]))
    with pytest.raises(HParamsError, match="num_head: unknown"):
        list(parameter_lines(["transformer_base"], overrides="num_head=3"))


def test_every_published_set_exists() -> None:
    assert set(PUBLISHED) <= set(registry.hparams)
