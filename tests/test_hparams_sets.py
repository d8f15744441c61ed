"""All registered hparams sets: docstrings, fields that are read, values and sizes."""

import ast
import dataclasses
import functools
import json
import math
import pathlib
import typing
from collections.abc import Callable, Iterator

import pytest

from t2t_phrase import registry
from t2t_phrase.config import HParams, HParamsError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.models.transformer_hparams import TransformerHParams

ROOT = pathlib.Path(__file__).resolve().parents[1]
registry.discover()


@pytest.mark.parametrize("name", registry.hparams)
def test_every_set_constructs_is_described_and_survives_json(name: str) -> None:
    make = registry.hparams[name]
    hparams = make()
    assert isinstance(hparams, HParams)
    assert (make.__doc__ or "").strip().endswith((".", ")"))
    assert make() == hparams
    assert type(hparams).from_dict(json.loads(hparams.to_json())) == hparams


def sets_of_some_updates() -> list[str]:
    """All sets whose rate falls to 0 and whose description says for how many updates they are."""
    described = [n for n in registry.hparams if "updates." in str(registry.hparams[n].__doc__)]
    return [n for n in described if "linear_decay" in registry.hparams[n]().learning_rate_schedule]


@pytest.mark.parametrize("name", sets_of_some_updates())
def test_the_rate_reaches_0_after_the_updates_of_the_description(name: str) -> None:
    hparams = registry.hparams[name]()
    steps = hparams.learning_rate_warmup_steps + hparams.learning_rate_decay_steps
    assert f" {steps:,} updates" in str(registry.hparams[name].__doc__)


def declaring_classes() -> dict[str, type]:
    """All dataclasses of hyperparameters in use, by name."""
    used = {type(registry.hparams[name]()) for name in registry.hparams} | {DecodeHParams}
    return {cls.__name__: cls for leaf in used for cls in leaf.__mro__ if issubclass(cls, HParams)}


def reads(tree: ast.AST, declaring: set[str]) -> Iterator[str]:
    """Yield all attributes that are read, except from `self` within the declaring classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) and node.name in declaring:
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if not own:
                yield node.attr
        yield from reads(node, declaring)


@functools.cache
def fields_read() -> frozenset[str]:
    declaring = set(declaring_classes())
    files = (ROOT / "t2t_phrase").rglob("*.py")
    return frozenset(
        name for path in files for name in reads(ast.parse(path.read_text()), declaring)
    )


def declared_fields() -> list[tuple[str, str]]:
    return sorted(
        (cls.__name__, name)
        for cls in declaring_classes().values()
        for name in {field.name for field in dataclasses.fields(cls)} & set(cls.__annotations__)
    )


@pytest.mark.parametrize(("cls", "field"), declared_fields())
def test_every_field_is_read_by_some_code(cls: str, field: str) -> None:
    assert field in fields_read(), f"{cls}.{field} changes nothing"


def test_the_search_for_reads_does_not_count_checks_or_other_objects() -> None:
    source = (
        "class Options:\n"
        "    def check(self): return self.width + other.height\n"
        "class Layer:\n"
        "    def call(self): self.depth; self.hparams.size; hparams.rate = 1\n"
    )
    assert set(reads(ast.parse(source), {"Options"})) == {"size"}


def test_values_of_tensor2tensor() -> None:
    """From T2T 1.15.7, models/transformer.py."""
    get = registry.hparams
    base = get["transformer_base"]()
    assert (base.hidden_size, base.filter_size, base.num_heads) == (512, 2048, 8)
    assert (base.num_hidden_layers, base.batch_size, base.max_length) == (6, 4096, 256)
    assert (base.optimizer_adam_beta1, base.optimizer_adam_beta2) == (0.9, 0.997)
    assert base.optimizer_adam_epsilon == 1e-9
    assert (base.learning_rate_constant, base.learning_rate_warmup_steps) == (2.0, 8000)
    assert base.learning_rate_schedule == "constant*linear_warmup*rsqrt_decay*rsqrt_hidden_size"
    assert base.norm == "pre"
    assert (base.label_smoothing, base.attention_initializer_gain) == (0.1, 1.0)
    assert get["transformer_base_v3"]() == base
    v1 = get["transformer_base_v1"]()
    assert (v1.norm, v1.attention_dropout, v1.relu_dropout) == ("post", 0.0, 0.0)
    assert v1.layer_prepostprocess_dropout == 0.1
    assert (v1.optimizer_adam_beta2, v1.learning_rate_warmup_steps) == (0.98, 4000)
    v2 = get["transformer_base_v2"]()
    assert v2.replace(optimizer_adam_beta2=0.997) == base
    big = get["transformer_big"]()
    assert (big.hidden_size, big.filter_size, big.num_heads, big.batch_size) == (
        1024,
        4096,
        16,
        2048,
    )
    assert big.layer_prepostprocess_dropout == 0.3
    single = get["transformer_base_single_gpu"]()
    assert (single.batch_size, single.learning_rate_constant) == (1024, 0.1)
    assert single.learning_rate_warmup_steps == 16000
    assert "rsqrt_hidden_size" not in single.learning_rate_schedule
    big_single = get["transformer_big_single_gpu"]()
    assert big_single.layer_prepostprocess_dropout == 0.1
    assert big_single.learning_rate_warmup_steps == 16000
    tiny, small = get["transformer_tiny"](), get["transformer_small"]()
    for hparams, sizes in ((tiny, (2, 128, 512, 4)), (small, (2, 256, 1024, 4))):
        assert sizes == (
            hparams.num_hidden_layers,
            hparams.hidden_size,
            hparams.filter_size,
            hparams.num_heads,
        )
    relative = get["transformer_relative"]()
    assert (relative.pos, relative.max_relative_position) == ("none", 20)


def test_the_papers_recipe() -> None:
    """2 D^-1/2 min(s^-1/2, s 16000^-3/2), Adam (0.9, 0.98, 1e-9)."""
    paper = registry.hparams["transformer_base_paper"]()
    assert (paper.optimizer_adam_beta1, paper.optimizer_adam_beta2) == (0.9, 0.98)
    assert (paper.learning_rate_constant, paper.learning_rate_warmup_steps) == (2.0, 16000)
    assert registry.hparams["transformer_base_10l"]() == paper.replace(num_hidden_layers=10)


def test_the_multi30k_rate_peaks_at_0_005() -> None:
    hparams = registry.hparams["transformer_multi30k"]()
    peak = hparams.learning_rate_constant / math.sqrt(hparams.learning_rate_warmup_steps)
    assert peak == pytest.approx(0.005, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("num_heads=7", "hidden_size=512 is not a multiple of num_heads=7"),
        ("num_heads=0", "num_heads: must be at least 1, got 0"),
        ("num_encoder_layers=-1", "num_encoder_layers: must not be negative, got -1"),
        ("relu_dropout=1", r"relu_dropout: must be in \[0, 1\), got 1.0"),
        ("target_space_id=32", r"target_space_id: must be in \[0, 32\), got 32"),
        ("batch_size=100", "batch_size=100 tokens cannot hold one sentence of max_length=256"),
        ("max_length=4", "max_length=4 is below min_length_bucket=8"),
        ("length_bucket_step=1", "length_bucket_step: must be above 1, got 1.0"),
        ("label_smoothing=1", r"label_smoothing: must be in \[0, 1\), got 1.0"),
        ("clip_grad_norm=-1", "clip_grad_norm: must not be negative, got -1.0"),
        ("learning_rate_warmup_steps=0", "learning_rate_warmup_steps: must be positive, got 0"),
        (
            "learning_rate_schedule=constant*warmup",
            "learning_rate_schedule: unknown factor 'warmup'; known: constant, linear_warmup",
        ),
        ("norm=none", "norm: expected one of pre, post, got 'none'"),
    ],
)
def test_a_mistake_in_the_models_options(changes: str, message: str) -> None:
    with pytest.raises(HParamsError, match=message):
        TransformerHParams().override(changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("beam_size=0", "beam_size: must be at least 1, got 0"),
        ("alpha=-1", "alpha: must not be negative, got -1.0"),
        ("min_length=5,max_length=5", "min_length=5 leaves no room for EOS in 5 tokens"),
        ("sampling_keep_top_k=5", "sampling_keep_top_k: is only used with sampling_temp"),
        ("beam_sise=3", "beam_sise: unknown; did you mean beam_size"),
    ],
)
def test_a_mistake_in_the_options_of_decoding(changes: str, message: str) -> None:
    with pytest.raises(HParamsError, match=message):
        DecodeHParams().override(changes)


def test_every_field_says_what_it_is() -> None:
    """All fields have types, and those of dataclasses have defaults."""
    for cls in declaring_classes().values():
        hints: dict[str, Callable] = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            assert field.name in hints
            assert field.default is not dataclasses.MISSING
