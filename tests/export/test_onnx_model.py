"""onnxruntime computes with exported graphs what the model computes."""

import json
import os
import pathlib
import re
import sys

import numpy as np
import pytest
from exact_models import VOCAB, padded, random_sources
from mostly_slow import mostly_slow
from random_weights import randomize
from small_luong_models import small_set as small_luong_set
from small_luong_models import structures
from small_phrase_models import (
    GRANULARITIES,
    KINDS,
    LEVELS_OF_TREES,
    MIXED,
    PARSED,
    REPRESENTATIONS,
    SMALL,
    granularity_structures,
    small_set,
)
from toy_run import call, make_toy_run

from t2t_phrase import registry
from t2t_phrase.bin import exporter
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export import onnx_conversion, onnx_model
from t2t_phrase.export.onnx_graphs import make_graphs
from t2t_phrase.export.onnx_model import export_onnx, in_float32
from t2t_phrase.models.alignment_assisted import AlignmentAssistedTransformer
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.special_ids import EOS_ID

for package in ("onnx", "tf2onnx"):
    pytest.importorskip(package)
onnxruntime = pytest.importorskip("onnxruntime")
registry.discover()

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 6
# Fast ones: n-grams, segments, and recurrence. The other tests export a Transformer.
OFTEN = {
    "homogeneous_convkv": KINDS["homogeneous_convkv"],
    "representation": REPRESENTATIONS["representation"],
    "luong_base_local_p_general_feed": small_luong_set("luong_base_local_p_general_feed"),
}
NIGHTLY = {
    "pre-norm": SMALL,
    "post-norm": SMALL.replace(norm="post", num_encoder_layers=2),
    "relative": SMALL.replace(max_relative_position=2, pos="none"),
    **MIXED,
    **KINDS,
    **REPRESENTATIONS,
    "parsed": PARSED,
    "granularities": GRANULARITIES,
    "levels": LEVELS_OF_TREES,
    **{name: small_set(name) for name in granularity_structures()},
    **{name: small_luong_set(name) for name in structures()},
}
FAMILIES = mostly_slow({**OFTEN, **NIGHTLY}, *OFTEN)


def make_model(hparams, **changes):
    hparams = hparams.replace(**changes)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model)
    return model


def session(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(graph, inputs):
    names = [output.name for output in graph.get_outputs()]
    return dict(zip(names, graph.run(names, inputs), strict=True))


def features_of(model, lengths):
    """Return sources of these lengths, and segments or levels where a model reads them."""
    inputs = padded(random_sources(lengths))
    numbers = np.cumsum(np.arange(inputs.shape[1]) % 3 == 0)
    known = {"phrases": numbers, "levels": 1 + np.arange(inputs.shape[1]) % 3}
    others = {
        feature.name: np.where(inputs > 0, known[feature.name], 0).astype("int32")
        for feature in model.hparams.features
    }
    return {"inputs": inputs, **others}


def own_steps(model, features, beams):
    memory = model.prepare_memory(features)
    cache = model.start_cache(memory, beams, STEPS)

    def step(ids, parents, index):
        nonlocal cache
        logits, cache, _ = model.step(ids, index, memory, model.reorder(cache, parents))
        return np.asarray(logits)

    return step


def onnx_steps(encoder, step_graph, features, beams):
    state = run(encoder, {**features, "beams": np.array(beams, "int32")})

    def step(ids, parents, index):
        nonlocal state
        given = {"ids": ids, "parents": parents, "index": np.array(index, "int32")}
        found = run(step_graph, {**state, **given})
        logits = found.pop("logits")
        state = state | {name.removeprefix("next_"): value for name, value in found.items()}
        return logits

    return step


def beam_search(step, rows, beams):
    """Return (B, K, T) ids and their (B, K) log-probabilities; no hypothesis ends."""
    ids = parents = np.zeros((rows, beams), "int32")
    scores = np.where(np.arange(beams) == 0, 0.0, -1e9)[None].repeat(rows, 0)
    found = np.zeros((rows, beams, 0), "int32")
    for index in range(STEPS):
        logits = step(ids, parents, index).astype("float64")
        logits -= np.log(np.exp(logits - logits.max()).sum(-1, keepdims=True)) + logits.max()
        total = (scores[..., None] + logits).reshape(rows, -1)
        best = np.argsort(-total, axis=1, kind="stable")[:, :beams]
        scores = np.take_along_axis(total, best, axis=1)
        parents, ids = (part.astype("int32") for part in np.divmod(best, VOCAB))
        found = np.take_along_axis(found, parents[..., None], axis=1)
        found = np.concatenate([found, ids[..., None]], axis=2)
    return found, scores


@pytest.mark.parametrize("name", FAMILIES)
def test_a_search_finds_the_same(name):
    model = make_model({**OFTEN, **NIGHTLY}[name])
    graphs = make_graphs(model)
    encoder, step = session(graphs.encoder), session(graphs.step)
    for lengths, beams in (((13, 2, 7), 3), ((9, 30), 1)):
        features = features_of(model, lengths)
        expected = beam_search(own_steps(model, features, beams), len(lengths), beams)
        found = beam_search(onnx_steps(encoder, step, features, beams), len(lengths), beams)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1], atol=1e-4)
        for row, length in enumerate(lengths):
            alone = {key: ids[row : row + 1, :length] for key, ids in features.items()}
            ids, scores = beam_search(onnx_steps(encoder, step, alone, beams), 1, beams)
            np.testing.assert_array_equal(ids[0], found[0][row])
            np.testing.assert_allclose(scores[0], found[1][row], atol=1e-4)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    toy = make_toy_run(folder)
    rows = np.array(toy.model.softmax.kernel)
    # Some translations end.
    rows[EOS_ID] *= -3
    toy.model.softmax.kernel.assign(rows)
    about = {"step": 30}
    return toy, export_onnx(toy.model, toy.vocabularies, folder / "onnx", about=about)


def test_the_search_in_the_documents_translates(exported, capsys):
    toy, folder = exported
    section = (ROOT / "docs/serving.md").read_text(encoding="utf-8").split("\n## ONNX\n")[1]
    search, quantisation = re.findall(
        r"^```python\n(.*?)^```$", section.split("\n## ")[0], re.M | re.S
    )
    scope = {}
    assert '"runs/ende/onnx/1"' in search
    exec(search.replace('"runs/ende/onnx/1"', repr(str(folder))), scope)
    assert len(capsys.readouterr().out.splitlines()) == 1
    lines = [
        "the house is old",
        "dogs",
        "a cat sleeps in it while dogs run far away",
        "Ünknown 日本",
    ]
    options = DecodeHParams(beam_size=1, extra_length=50)
    own = [
        found[0].text for found in Translator(toy.model, toy.vocabularies, options).translate(lines)
    ]
    found = [" ".join(text.split()) for text in scope["translate"](lines)]
    # Without an end, both stop somewhere.
    ended = [i for i, text in enumerate(found) if len(toy.encoder.encode(text)) < 50]
    assert ended
    assert [found[i] for i in ended] == [own[i] for i in ended]

    exec(quantisation, scope)
    for name in ("encoder", "step"):
        scope[name] = onnxruntime.InferenceSession(folder / f"{name}.int8.onnx")
        os.remove(folder / f"{name}.int8.onnx")
    assert len(scope["translate"](lines)) == len(lines)


def test_a_version_holds_vocabularies_and_facts(exported):
    toy, folder = exported
    files = ["encoder.onnx", "export.json", "step.onnx", "vocabulary.model"]
    assert sorted(os.listdir(folder)) == files
    assert (folder / "vocabulary.model").read_bytes() == toy.encoder.model_bytes
    about = json.loads((folder / "export.json").read_text())
    assert about["step"] == 30 and about["vocabularies"] == ["vocabulary.model"]
    width = toy.model.hparams.hidden_size // toy.model.hparams.num_heads
    for name, graph in about["graphs"].items():
        loaded = onnxruntime.InferenceSession(folder / name)
        for key, tensors in (("inputs", loaded.get_inputs()), ("outputs", loaded.get_outputs())):
            assert [each["name"] for each in graph[key]] == [each.name for each in tensors]
            assert [len(each["shape"]) for each in graph[key]] == [len(t.shape) for t in tensors]
    step = {
        each["name"]: each
        for key in ("inputs", "outputs")
        for each in about["graphs"]["step.onnx"][key]
    }
    assert step["logits"]["shape"] == ["B", "K", toy.model.vocab_size]
    heads = toy.model.hparams.num_heads
    key = step["memory/layers/0/key"]
    assert (key["type"], key["shape"]) == ("float32", ["B", heads, width, "S"])
    assert step["cache/ancestors"]["shape"] == ["B", "K", "past"]
    assert step["memory/mask"]["type"] == "bool" and "memory/softmax/0" not in step
    assert all(each["meaning"] for each in step.values())


def test_the_command_exports_and_refuses_options_of_the_search(tmp_path, capsys, monkeypatch):
    toy = make_toy_run(tmp_path)
    given = {}

    def export(model, vocabularies, export_dir, about):
        given.update(about, model=model)
        return export_dir

    monkeypatch.setattr(onnx_model, "export_onnx", export)
    call(exporter, *toy.flags, "--format=onnx")
    assert capsys.readouterr().out == f"exported to {toy.output_dir}/onnx\n"
    assert given["step"] == 30 and given["problem"] == "translate_toy"
    for flag, reason in (
        ("--decode_hparams=beam_size=2", "a model for ONNX stores no search options"),
        ("--dtype_policy=mixed_bfloat16", "a model for ONNX holds float32"),
        ("--alignment_model_dir=x", "has no search with a second model"),
    ):
        with pytest.raises(UserError, match=reason):
            call(exporter, *toy.flags, "--format=onnx", flag)


def test_models_with_a_search_of_their_own_are_refused(tmp_path):
    toy = make_toy_run(tmp_path)
    with pytest.raises(UserError, match=r"^--format=onnx: an ensemble is searched as a whole"):
        export_onnx(Ensemble([toy.model]), toy.vocabularies, tmp_path / "export")
    assisted = AlignmentAssistedTransformer.hparams_class(hidden_size=8, num_hidden_layers=1)
    model = AlignmentAssistedTransformer.from_hparams(assisted, vocab_size=8)
    with pytest.raises(UserError, match=r"only together with .*; only a SavedModel holds such a"):
        export_onnx(model, toy.vocabularies, tmp_path / "export")
    assert not (tmp_path / "export").exists()


def test_what_cannot_be_converted_leaves_nothing(tmp_path, monkeypatch):
    toy = make_toy_run(tmp_path)
    (tmp_path / "export" / "1").mkdir(parents=True)

    def step(ids, index, memory, cache):
        raise ValueError("no such\noperation")

    with monkeypatch.context() as patch:
        patch.setattr(toy.model, "step", step)
        with pytest.raises(
            UserError, match=r"the step cannot be converted \(ValueError: no such operation\)"
        ):
            export_onnx(toy.model, toy.vocabularies, tmp_path / "export")
    with monkeypatch.context() as patch:
        patch.setattr(onnx_conversion, "MOST_BYTES", 1000)
        with pytest.raises(UserError, match=r"the weights of the step take 0\.0 GB, but an ONNX"):
            export_onnx(toy.model, toy.vocabularies, tmp_path / "export")
    assert os.listdir(tmp_path / "export") == ["1"]


def test_an_interrupted_export_leaves_nothing(exported, tmp_path, monkeypatch):
    toy, _ = exported
    graphs = make_graphs(make_model(SMALL, num_hidden_layers=1))
    monkeypatch.setattr(onnx_model, "make_graphs", lambda model: graphs)
    with pytest.raises(UserError, match=r"the logits of the converted graphs differ|cannot run"):
        export_onnx(toy.model, toy.vocabularies, tmp_path / "export")
    monkeypatch.setattr(onnx_model, "check_same", lambda model, graphs: None)

    def stop(*_):
        (folder,) = (tmp_path / "export").glob(".unfinished-*")
        assert (folder / "step.onnx").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(onnx_model, "write_vocabularies", stop)
    with pytest.raises(KeyboardInterrupt):
        export_onnx(toy.model, toy.vocabularies, tmp_path / "export")
    assert not (tmp_path / "export").exists()


def test_other_types_are_exported_in_float32():
    model = make_model(SMALL, dtype_policy="mixed_bfloat16")
    single = in_float32(model)
    assert single.compute_dtype == "float32" and in_float32(single) is single
    for own, other in zip(model.get_weights(), single.get_weights(), strict=True):
        np.testing.assert_array_equal(own, other)


def test_the_packages_are_named_where_one_is_missing(tmp_path, monkeypatch):
    toy = make_toy_run(tmp_path)
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    with pytest.raises(UserError, match=r"pip install 't2t_phrase\[onnx\]'$"):
        export_onnx(toy.model, toy.vocabularies, tmp_path / "export")
    assert not (tmp_path / "export").exists()
