"""Imported checkpoints give the same results as in tensor2tensor."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
from mostly_slow import mostly_slow
from reference_beam_search import search as reference_search
from reference_transformer import ReferenceTransformer
from t2t_checkpoint import SHARDS, D, F, V, make_checkpoint

from t2t_phrase import registry
from t2t_phrase.compile import compiled
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.output_limits import OutputLimits
from t2t_phrase.decoding.search.translate_ids import search
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.load_model import load_model
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.tensor2tensor.checkpoint_import import read_t2t_checkpoint, write_run

registry.discover()
SOURCES = [[5, 3, 9, 7, 4, 1], [6, 2, 1], [10, 8, 8, 1]]
TARGETS = [[4, 9, 1], [3, 3, 10, 5, 7, 1], [2, 1]]
LENGTH = 7


def tiny(**changes):
    sizes = {"hidden_size": D, "filter_size": F, "num_heads": 2, "num_hidden_layers": 2}
    return registry.hparams["transformer_base"]().replace(**{**sizes, **changes})


def load(path, hparams, **options):
    imported = read_t2t_checkpoint(path, hparams, **options)
    model = registry.models["transformer"].from_hparams(
        hparams,
        vocab_size=imported.vocab_size,
        target_vocab_size=imported.target_vocab_size,
    )
    for name, variable in checkpoints.model_variables(model).items():
        variable.assign(imported.tensors[name])
    return model, imported


def padded(sentences):
    width = max(map(len, sentences))
    return np.array([ids + [0] * (width - len(ids)) for ids in sentences], "int32")


def decode(model, inputs, length, **options):
    hparams = DecodeHParams(**options)
    limits = np.full(len(inputs), length, "int32")
    run = compiled(
        lambda ids, limits: search(model, {"inputs": ids}, OutputLimits(limits, length), hparams)
    )
    ids, scores, _ = run(inputs, limits)
    return np.asarray(ids), np.asarray(scores)


def up_to_eos(ids):
    """Return ids with zeros after EOS, as tensor2tensor pads greedy outputs."""
    ended = np.cumsum(ids == 1, axis=-1) - (ids == 1)
    return np.where(ended > 0, 0, ids)


class TestSharedFixtures:
    """Compares with checkpoints and outputs of tensor2tensor 1.15.7."""

    @pytest.fixture(scope="class", params=["base", "post_norm", "relative"])
    def original(self, request, shared_dir):
        folder = pathlib.Path(shared_dir) / "fixtures" / "t2t" / request.param
        if not folder.is_dir():
            pytest.skip(f"no {folder}")
        about = json.loads((folder / "about.json").read_text())
        outputs = dict(np.load(folder / "outputs.npz"))
        hparams = registry.hparams[about["hparams_fn"]]().replace(
            **{
                name: about[name]
                for name in ("hidden_size", "filter_size", "num_heads", "num_hidden_layers")
            },
            target_space_id=int(outputs["target_space_id"]),
        )
        model, imported = load(folder, hparams)
        assert imported.vocab_size == about["vocab_size"]
        return model, imported, about, outputs

    def test_every_variable_is_used(self, original):
        _, imported, about, _ = original
        assert (imported.unused, imported.notes, imported.step) == ((), (), 1000)
        assert imported.state == 1  # global_step
        count = sum(int(np.prod(shape)) for shape in about["variables"].values())
        assert sum(tensor.size for tensor in imported.tensors.values()) == count

    def test_logits_and_loss(self, original):
        model, _, _, outputs = original
        features = {"inputs": outputs["inputs"], "targets": outputs["targets"]}
        np.testing.assert_allclose(model(features), outputs["logits"], atol=1e-4, rtol=0)
        # T2T does not smooth the loss outside training.
        nll = model.batch_loss(features).means["nll"]
        loss = float(nll.total) / float(nll.count)
        assert loss == pytest.approx(float(outputs["training_loss"]), rel=1e-5)

    def test_greedy_outputs(self, original):
        model, _, about, outputs = original
        if "greedy_outputs" not in outputs:
            pytest.skip("not recorded")
        ids, _ = decode(model, outputs["inputs"], about["decode_length"], beam_size=1)
        expected = up_to_eos(outputs["greedy_outputs"])
        width = expected.shape[1]
        np.testing.assert_array_equal(ids[:, 0, :width], expected)
        assert not ids[:, 0, width:].any()

    def test_beam_outputs_and_scores(self, original):
        model, _, about, outputs = original
        ids, scores = decode(
            model,
            outputs["inputs"],
            about["decode_length"],
            beam_size=about["beam_size"],
            alpha=about["alpha"],
            return_beams=True,
        )
        width = outputs["beam_outputs"].shape[2]
        np.testing.assert_array_equal(ids[..., :width], outputs["beam_outputs"])
        assert not ids[..., width:].any()
        np.testing.assert_allclose(scores, outputs["beam_scores"], atol=1e-4, rtol=0)


VARIANTS = {
    "pre": ({}, {}),
    "post": ({"norm": "post"}, {"norm": "post"}),
    "relative": ({"limit": 3}, {"max_relative_position": 3, "pos": "none"}),
    "unshared": ({"shared": False}, {"shared_embedding_and_softmax_weights": False}),
    "no_target_space": ({"target_space": False}, {"target_space_id": 4}),
}


@pytest.mark.parametrize("variant", mostly_slow(VARIANTS, "pre"))
def test_equations_of_an_imported_checkpoint(variant, tmp_path):
    made, changes = VARIANTS[variant]
    checkpoint = make_checkpoint(**made)
    checkpoint.write(tmp_path)
    hparams = tiny(**{"target_space_id": 2, **changes})
    model, imported = load(tmp_path, hparams)
    assert imported.unused == ()
    reference = ReferenceTransformer(
        {name: value.astype("float64") for name, value in checkpoint.ours.items()},
        num_heads=2,
        norm=hparams.norm,
        timing=hparams.pos == "timing",
        limit=hparams.max_relative_position,
        target_space=hparams.target_space_id,
    )
    inputs = padded(SOURCES)
    logits = np.asarray(model({"inputs": inputs, "targets": padded(TARGETS)}))
    for row, source, target in zip(logits, SOURCES, TARGETS, strict=True):
        expected = reference.logits(source, target)
        np.testing.assert_allclose(row[: len(target)], expected, atol=1e-4, rtol=0)

    found = model.batch_loss({"inputs": inputs, "targets": padded(TARGETS)}).means["nll"]
    nll = -sum(
        reference.step_log_probs(source, target[:i])[token]
        for source, target in zip(SOURCES, TARGETS, strict=True)
        for i, token in enumerate(target)
    )
    assert float(found.total) == pytest.approx(nll, rel=1e-5)

    greedy, _ = decode(model, inputs, LENGTH, beam_size=1)
    for row, source in zip(greedy[:, 0], SOURCES, strict=True):
        expected = []
        while len(expected) < LENGTH and expected[-1:] != [1]:
            expected.append(int(np.argmax(reference.step_log_probs(source, expected))))
        assert row.tolist() == expected + [0] * (LENGTH - len(expected))

    if variant in ("pre", "relative"):
        beams, scores = decode(model, inputs, LENGTH, beam_size=3, return_beams=True)
        for rows, row_scores, source in zip(beams, scores, SOURCES, strict=True):
            found = reference_search(
                lambda prefix, source=source: reference.step_log_probs(source, prefix),
                max_length=LENGTH,
                beam_size=3,
                alpha=0.6,
            )
            for row, score, (ids, expected) in zip(rows, row_scores, found, strict=False):
                assert row.tolist() == [*ids, *[0] * (LENGTH - len(ids))]
                assert score == pytest.approx(expected, abs=1e-4)


def test_what_is_unused_is_listed_and_the_optimizer_counted(tmp_path):
    checkpoint = make_checkpoint()
    name = "transformer/body/encoder/layer_0/ffn/conv1/kernel"
    for slot in ("Adam", "Adam_1"):
        checkpoint.theirs[f"training/{name}/{slot}"] = np.zeros((D, F), "float32")
        checkpoint.theirs[f"{name}/{slot}"] = np.zeros((D, F), "float32")
    checkpoint.theirs["losses_avg/problem_0/training_loss"] = np.float32(3)
    checkpoint.theirs["transformer/body/extra/kernel"] = np.zeros(2, "float32")
    checkpoint.write(tmp_path)
    imported = read_t2t_checkpoint(tmp_path, tiny())
    assert imported.unused == ("transformer/body/extra/kernel",)
    assert imported.state == 6  # four slots, a loss, global_step


def test_missing_variables_are_named(tmp_path):
    checkpoint = make_checkpoint()
    del checkpoint.theirs[
        "transformer/body/decoder/layer_1/encdec_attention/multihead_attention/q/kernel"
    ]
    checkpoint.write(tmp_path)
    with pytest.raises(
        UserError, match=r"lacks 1 variables.*: decoder_layer_1/cross_attention/query/kernel$"
    ):
        read_t2t_checkpoint(tmp_path, tiny())


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        (
            "encoder/layer_0/self_attention/multihead_attention/q/kernel",
            (D, 2 * D),
            f"{D}, {2 * D}",
        ),
        # As many numbers, in another layout.
        (
            "encoder/layer_1/self_attention/multihead_attention/k/kernel",
            (2 * D, D // 2),
            f"{2 * D}",
        ),
        ("decoder/layer_1/ffn/conv1/kernel", (D, F + 1), f"{D}, {F + 1}"),
    ],
)
def test_other_shapes_are_named(tmp_path, name, shape, message):
    checkpoint = make_checkpoint()
    name = f"transformer/body/{name}"
    assert name in checkpoint.theirs
    checkpoint.theirs[name] = np.zeros(shape, "float32")
    checkpoint.write(tmp_path)
    with pytest.raises(UserError, match=rf"1 variables of transformer .*{name[17:]}: \({message}"):
        read_t2t_checkpoint(tmp_path, tiny())


def test_no_target_space_is_noted(tmp_path):
    make_checkpoint(target_space=False).write(tmp_path)
    imported = read_t2t_checkpoint(tmp_path, tiny())
    assert not imported.tensors["target_space/embeddings"].any()
    assert imported.notes == (
        "target_space/embeddings: not in the checkpoint; set to zero, which has no effect",
    )


def test_sizes_that_differ_are_named_with_the_overrides_that_fit(tmp_path):
    make_checkpoint(limit=3, heads=4, layers=1).write(tmp_path)
    hparams = registry.hparams["transformer_base"]()
    with pytest.raises(UserError, match="hidden_size: 512 instead of 8; ") as caught:
        read_t2t_checkpoint(tmp_path, hparams)
    fix = str(caught.value).partition("--hparams=")[2]
    fitting = hparams.override(fix)
    assert (fitting.num_heads, fitting.num_hidden_layers) == (4, 1)
    assert fitting.max_relative_position == 3
    imported = read_t2t_checkpoint(tmp_path, fitting)
    assert imported.vocab_size == V
    with pytest.raises(UserError, match=r"norm: post instead of pre; add --hparams=norm=pre$"):
        read_t2t_checkpoint(tmp_path, fitting.replace(norm="post"))
    with pytest.raises(UserError, match="num_decoder_layers: 2 instead of 1"):
        read_t2t_checkpoint(tmp_path, fitting.replace(num_decoder_layers=2))


def test_a_lost_part_of_an_embedding_is_noticed(tmp_path):
    checkpoint = make_checkpoint(shared=False)
    del checkpoint.theirs[f"transformer/symbol_modality_{V}_{D}/input_emb/weights_3"]
    checkpoint.write(tmp_path)
    with pytest.raises(UserError, match="has 9 of the 11 rows of input_emb: it is damaged"):
        read_t2t_checkpoint(tmp_path, tiny(shared_embedding_and_softmax_weights=False))


@pytest.mark.parametrize("shared", [False, True])
def test_two_vocabularies(tmp_path, shared):
    checkpoint = make_checkpoint(shared=shared, target_vocab_size=V + 2)
    checkpoint.write(tmp_path)
    hparams = tiny(shared_embedding_and_softmax_weights=shared)
    if shared:
        # T2T gives both embeddings the same name; only their sizes tell them apart.
        hparams = hparams.replace(share_source_embedding=False)
        with pytest.raises(UserError, match=f"{V} and {V + 2} rows .* --target_vocab_file"):
            read_t2t_checkpoint(tmp_path, hparams)
    model, imported = load(tmp_path, hparams, source_vocab_size=V)
    assert (imported.vocab_size, imported.target_vocab_size) == (V, V + 2)
    assert imported.unused == ()
    for name, variable in checkpoints.model_variables(model).items():
        np.testing.assert_array_equal(variable, checkpoint.ours[name])
    logits = model({"inputs": padded(SOURCES), "targets": padded(TARGETS)})
    assert logits.shape[-1] == V + 2


def test_a_shared_embedding_with_a_softmax_of_its_own(tmp_path):
    checkpoint = make_checkpoint(shared=True)
    softmax = np.random.default_rng(1).normal(size=(V, D)).astype("float32")
    for shard, part in enumerate(np.array_split(softmax, SHARDS)):
        checkpoint.theirs[f"transformer/symbol_modality_{V}_{D}/softmax/weights_{shard}"] = part
    checkpoint.write(tmp_path)
    with pytest.raises(UserError, match="=shared_embedding_and_softmax_weights=False"):
        read_t2t_checkpoint(tmp_path, tiny())
    found = read_t2t_checkpoint(tmp_path, tiny(shared_embedding_and_softmax_weights=False))
    assert not found.unused
    np.testing.assert_array_equal(found.tensors["softmax/embeddings"], softmax)
    for name in ("embedding/embeddings", "target_embedding/embeddings"):
        np.testing.assert_array_equal(found.tensors[name], checkpoint.ours["embedding/embeddings"])


def test_what_is_no_t2t_checkpoint_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds no checkpoint"):
        read_t2t_checkpoint(tmp_path, tiny())
    checkpoints.write(tmp_path / "model.ckpt-1", model={"x": np.zeros(2, "float32")}, step=1)
    with pytest.raises(UserError, match="not a tensor2tensor checkpoint of a Transformer"):
        read_t2t_checkpoint(tmp_path / "model.ckpt-1", tiny())


def test_a_run_is_written_that_loads_like_any_other(tmp_path):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    checkpoint = make_checkpoint()
    path = checkpoint.write(theirs, step=1234)
    imported = read_t2t_checkpoint(f"{path}.index", tiny())
    record = RunRecord(
        problem="",
        model="transformer",
        hparams_set="transformer_base",
        overrides="",
        hparams=tiny().to_dict(),
        vocab_size=imported.vocab_size,
        vocabulary="",
        random_seed=0,
    )
    written = write_run(imported, ours, record)
    trained = load_model(ours)
    assert (trained.checkpoint, trained.step) == (written, 1234)
    assert dataclasses.asdict(trained.record) == dataclasses.asdict(record)
    for name, variable in checkpoints.model_variables(trained.model).items():
        np.testing.assert_array_equal(variable, checkpoint.ours[name])
    with pytest.raises(UserError, match="already contains a run"):
        write_run(imported, ours, record)


def test_a_vocabulary_of_another_size_is_refused(tmp_path):
    make_checkpoint().write(tmp_path)
    imported = read_t2t_checkpoint(tmp_path, tiny())
    vocabulary = tmp_path / "vocab"
    vocabulary.write_text("".join(f"'{c}'\n" for c in ["<pad>", "<EOS>", *"\\_u;0123456789"]))
    with pytest.raises(UserError, match="has 16 pieces, the checkpoint 11"):
        write_run(imported, tmp_path / "run", None, vocabularies=[vocabulary])
