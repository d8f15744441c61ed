import functools
import math
import re

import pytest
from mostly_slow import mostly_slow

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
    matrices = count_matrices(name, vocab_size=37_000)
    assert round(matrices / 1e6, digits) == millions
    count = sum(map(math.prod, shapes_of(name, vocab_size=37_000).values()))
    assert matrices < count < 1.002 * matrices


@functools.cache
def shapes_of(name: str, *, vocab_size: int) -> dict[str, tuple[int, ...]]:
    return variable_shapes(registry.hparams[name](), vocab_size=vocab_size)


def count_matrices(name: str, *, vocab_size: int) -> int:
    """Count the matrices of the equations. Vectors and the 32 target spaces add at most 0.2%."""
    return sum(
        math.prod(shape)
        for path, shape in shapes_of(name, vocab_size=vocab_size).items()
        if len(shape) > 1 and "target_space" not in path
    )


@pytest.mark.parametrize(
    ("name", "squares"),
    [
        ("transformer_base_untied", 168),
        ("phrase_representation_base_mean", 168 + 12 * (4 + 9)),
        ("phrase_representation_base_max", 168 + 12 * (4 + 9)),
        ("phrase_representation_base_max_attn", 168 + 12 * (4 + 9) + 7 * 2),
        ("phrase_representation_base_max_attn_ta", 168 + 12 * (4 + 9) + 7 * 2),
        ("phrase_representation_base_parse", 168 + 12 * (4 + 9) + 7 * 2),
        ("transformer_big_untied", 168),
        ("phrase_representation_big", 168 + 12 * (4 + 9) + 7 * 2),
    ],
)
def test_phrase_representations_have_matrices_of_so_many_squares(name: str, squares: int) -> None:
    """In D^2: 12 combinations of an attention and three maps of 3 D rows; 7 times W_1 of D rows."""
    size = registry.hparams[name]().hidden_size
    matrices = count_matrices(name, vocab_size=43_000)
    rest = matrices - 2 * 43_000 * size - squares * size**2
    # W_2 of the poolings, and the weights of transparent attention.
    assert rest == (7 * size if "attn" in name or "parse" in name or "tion_big" in name else 0) + (
        7 * 6 if "_ta" in name or "parse" in name or "tion_big" in name else 0
    )
    described = re.search(r" ([\d.]+)M\b", registry.hparams[name].__doc__ or "")
    if described:
        digits = len(described[1].partition(".")[2])
        assert float(described[1]) == round(matrices / 1e6, digits)


@functools.cache
def base_count() -> int:
    return count_parameters(registry.hparams["transformer_base"](), vocab_size=32_000)


@pytest.mark.parametrize(
    ("name", "layers", "by_head"),
    [
        ("mgsa_base_ngram_max", 1, 0),
        ("mgsa_base_ngram_lstm", 1, 8 * 64**2 + 4 * 64),
        ("mgsa_base_ngram_san", 1, 3 * 64**2),
        ("mgsa_base_layers_1_6", 6, 3 * 64**2),
        ("mgsa_base_syntax_lstm", 1, 3 * 64**2 + 8 * 64**2 + 4 * 64),
        ("mgsa_base_syntax_onlstm", 1, 3 * 64**2 + (2 * 64 + 1) * (4 * 64 + 16)),
    ],
)
def test_heads_of_segments_have_parameters_of_their_own(
    name: str, layers: int, by_head: int
) -> None:
    """W_F instead of two maps of the tokens; W_K and W_V of a head's width; what composes."""
    found = count_parameters(registry.hparams[name](), vocab_size=32_000)
    assert found - base_count() == 6 * layers * (-512 * 64 + 2 * 64**2 + by_head)


def test_multi30k_is_as_small_as_published() -> None:
    """2.6M with a joint vocabulary of about 10,000, all embeddings shared."""
    count = count_parameters(registry.hparams["transformer_multi30k"](), vocab_size=10_000)
    assert round(count / 1e6, 1) == 2.6


def test_the_count_is_that_of_the_model() -> None:
    hparams = registry.hparams["phrase_interleaved_queryk_1_2_demo"]()
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=50)
    assert count_parameters(hparams, vocab_size=50) == model.count_params()
    # Weights that training would not change count, too.
    whole = count_parameters(hparams, vocab_size=50)
    assert count_parameters(hparams.replace(lora_rank=2), vocab_size=50) > whole
    frozen = hparams.replace(frozen_variables=("encoder*",))
    assert count_parameters(frozen, vocab_size=50) == whole


def test_the_table_has_the_papers_figures_beside_ours() -> None:
    header, *lines = parameter_lines(["transformer_base", "phrase_interleaved_convkv_1_2"])
    assert header.split() == ["hparams", "set", "subwords", "millions", "paper"]
    assert lines[0].split()[:4] == ["transformer_base", "37,000", "63.1", "63"]
    assert lines[1].split()[3] == "116"
    assert "the paper gives one count" in lines[1]
    (changed,) = list(parameter_lines(["transformer_base"], overrides="num_hidden_layers=1"))[1:]
    assert len(changed.split()) == 3  # with overrides, it is not the set of the paper
    name = "transformer_base_untied"
    sizes = {}
    for options in ({}, {"overrides": "label_smoothing=0.2"}, {"vocab_size": 8000}):
        sizes[str(options)] = list(parameter_lines([name], **options))[1].split()[1:]
    plain, same, smaller = sizes.values()
    assert plain[:2] == same and plain[0] == "43,000"
    assert smaller[0] == "8,000" and len(smaller) == 2  # the paper's count has 43,000


def test_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.hparams._entries, "wrong", lambda: {})
    with pytest.raises(UserError, match=r"transformer_bas.*transformer_base"):
        list(parameter_lines(["transformer_bas"]))
    with pytest.raises(UserError, match=r"hparams set wrong: its function returns \{\}; it must"):
        list(parameter_lines(["wrong"]))
    with pytest.raises(HParamsError, match="num_head: unknown"):
        list(parameter_lines(["transformer_base"], overrides="num_head=3"))


def test_every_published_set_exists() -> None:
    assert set(PUBLISHED) <= set(registry.hparams)


@pytest.mark.parametrize("size", mostly_slow(["3k", "10k", "30k", "100k", "1m"], "30k"))
def test_controls_are_as_large_as_the_phrase_models(size: str) -> None:
    def count(family: str) -> int:
        return count_parameters(registry.hparams[f"{family}_{size}"](), vocab_size=10_000)

    queryk = count("phrase_interleaved_queryk_1_2")
    assert count("transformer_wide") == pytest.approx(queryk, rel=0.01)
    assert count("transformer_wide") > count("transformer_deep")
    convkv = count("phrase_interleaved_convkv_1_2")
    assert count("transformer_deep") == pytest.approx(convkv, rel=0.12)
    assert count("transformer_deep") > count("phrase_heterogeneous_convkv_1_2")
