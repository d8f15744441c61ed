import dataclasses

import numpy as np
import pytest
from t2t_pieces import t2t_subwords
from tiny_training import make_stepper, make_trainer, random_pairs, weights, write_shards

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.kept_vocabularies import keep_vocabularies
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.vocabulary import checksums
from t2t_phrase.runs.warm_start import warm_start
from t2t_phrase.text.vocabularies import T2T_VOCABULARY, Vocabularies
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words


def test_what_fits_is_taken_over_and_the_rest_is_said(tmp_path):
    source = make_stepper(seed=1)
    stored = {**weights(source), "softmax/bias": np.zeros(9, np.float32)}
    stored["extra"] = stored.pop("softmax/kernel")
    checkpoints.write(tmp_path / "model.ckpt-7", model=stored, step=7)
    target = make_stepper(seed=2)
    before = weights(target)
    text = str(warm_start(target.model, tmp_path))
    after = weights(target)
    np.testing.assert_array_equal(after["embedding/embeddings"], stored["embedding/embeddings"])
    np.testing.assert_array_equal(after["softmax/kernel"], before["softmax/kernel"])
    np.testing.assert_array_equal(after["softmax/bias"], before["softmax/bias"])
    assert text == (
        f"warm start from {tmp_path}/model.ckpt-7: "
        "1 of 3 variables taken, 2 start from random weights\n"
        "1 missing from the checkpoint:\n  softmax/kernel\n"
        "1 with a different shape:\n  softmax/bias: (9,) in the checkpoint, (32,) in the model\n"
        "1 not used by the model:\n  extra"
    )
    assert int(target.optimizer.iterations) == 0


def test_nothing_fits(tmp_path):
    checkpoints.write(tmp_path / "model.ckpt-7", model={"other": np.zeros(2)}, step=7)
    with pytest.raises(UserError, match=r"--warm_start_from=.*: none of its weights fits the"):
        warm_start(make_stepper().model, tmp_path)


def test_the_run_begins_at_step_0_with_the_weights(tmp_path):
    files = write_shards(tmp_path, random_pairs([5] * 12))
    make_trainer(tmp_path / "first", files, make_stepper(), train_steps=4).train()
    stepper = make_stepper(seed=8)
    warm_start(stepper.model, tmp_path / "first")
    trainer = make_trainer(tmp_path / "second", files, stepper, train_steps=2)
    assert trainer.train().step == 2


def small_model(vocabularies):
    hparams = registry.hparams["transformer_tiny"]().override(
        "num_hidden_layers=1,hidden_size=8,filter_size=8,num_heads=2"
    )
    sizes = [-(-encoder.vocab_size // 8) * 8 for encoder in vocabularies]
    target = None if vocabularies.shared else sizes[1]
    if target is not None:
        hparams = hparams.override("shared_embedding_and_softmax_weights=false")
    model = registry.models["transformer"].from_hparams(
        hparams, vocab_size=sizes[0], target_vocab_size=target
    )
    return hparams, model


def save_run(folder, vocabularies, *, keeps=True):
    """Write a run with random weights; returns them by name."""
    registry.discover()
    hparams, model = small_model(vocabularies)
    source, target = checksums(vocabularies)
    folder.mkdir()
    RunRecord(
        problem="translate_text",
        model="transformer",
        hparams_set="transformer_tiny",
        overrides="",
        hparams=hparams.to_dict(),
        vocab_size=model.vocab_size,
        target_vocab_size=model.target_vocab_size,
        vocabulary=source,
        target_vocabulary=target,
        random_seed=1,
    ).save(folder)
    if keeps:
        keep_vocabularies(vocabularies, folder)
    stored = {name: v.numpy() for name, v in checkpoints.model_variables(model).items()}
    checkpoints.write(folder / "model.ckpt-1", model=stored, step=1)
    return stored


def joint(*words):
    encoder = WordEncoder(train_words([" ".join(words)], vocab_size=3 + len(words)))
    return Vocabularies(encoder, encoder)


def test_another_vocabulary_of_the_same_size_is_refused(tmp_path):
    save_run(tmp_path / "run", joint("a", "b", "c"))
    other = joint("a", "b", "d")
    _, model = small_model(other)
    for path in (tmp_path / "run", tmp_path / "run" / "model.ckpt-1"):
        with pytest.raises(UserError, match=r"different vocabulary.*_from=\S*/run to .*=map.*=new"):
            warm_start(model, path, vocabularies=other)


def test_a_run_of_the_other_direction_has_no_other_data(tmp_path):
    two = Vocabularies(joint("a", "b", "c")[0], joint("x", "y")[1])
    save_run(tmp_path / "run", two.reversed)
    _, model = small_model(two)
    with pytest.raises(UserError, match=r"translates in the other direction.*=map.*=new") as raised:
        warm_start(model, tmp_path / "run", vocabularies=two)
    assert "--vocab_from" not in str(raised.value)


def test_the_same_vocabulary_is_taken_as_it_is(tmp_path):
    same = joint("a", "b", "c")
    stored = save_run(tmp_path / "run", same)
    _, model = small_model(same)
    started = warm_start(model, tmp_path / "run", vocabularies=same, other_vocabulary="map")
    assert not started.mapped and len(started.report.matched) == len(stored)


@pytest.mark.parametrize("words", [("c", "x", "a"), ("c", "x", "a", "b", "y", "z", "u", "v")])
def test_rows_of_shared_entries_are_mapped(tmp_path, words):
    old = joint("a", "b", "c")
    stored = save_run(tmp_path / "run", old)
    new = joint(*words)
    _, model = small_model(new)
    before = model.source_embedding.kernel.numpy()
    started = warm_start(model, tmp_path / "run", vocabularies=new, other_vocabulary="map")
    rows = model.source_embedding.kernel.numpy()
    table = stored["embedding/embeddings"]
    shared = 0
    for row, word in enumerate(new.source.pieces(range(new.source.vocab_size))):
        known = old.source.pieces(range(old.source.vocab_size))
        if word in known:
            np.testing.assert_array_equal(rows[row], table[known.index(word)])
            shared += 1
        else:
            np.testing.assert_array_equal(rows[row], before[row])
    text = str(started)
    assert f"embedding/embeddings: {shared} of {new.source.vocab_size} entries" in text
    assert f"{len(stored) - 1} of {len(stored)} variables taken, 1 mapped by entries\n" in text


def test_two_vocabularies_are_mapped_each(tmp_path):
    first, second = joint("a", "b", "c").source, joint("d", "e", "f").source
    stored = save_run(tmp_path / "run", Vocabularies(first, second))
    new = Vocabularies(joint("c", "z", "y").source, joint("f", "z", "y").source)
    _, model = small_model(new)
    warm_start(model, tmp_path / "run", vocabularies=new, other_vocabulary="map")
    for name, old, encoder, word in (
        ("embedding", first, new.source, "c"),
        ("target_embedding", second, new.target, "f"),
        ("softmax", second, new.target, "f"),
    ):
        found = checkpoints.model_variables(model)[f"{name}/embeddings"].numpy()
        np.testing.assert_array_equal(
            found[encoder.encode(word)[0]], stored[f"{name}/embeddings"][old.encode(word)[0]]
        )


def test_a_joint_vocabulary_is_mapped_to_two(tmp_path):
    old = joint("a", "b", "c", "d")
    stored = save_run(tmp_path / "run", old)
    new = Vocabularies(joint("c", "z").source, joint("y", "d").source)
    _, model = small_model(new)
    started = warm_start(model, tmp_path / "run", vocabularies=new, other_vocabulary="map")
    for name, encoder, word in (
        ("embedding", new.source, "c"),
        ("target_embedding", new.target, "d"),
        ("softmax", new.target, "d"),
    ):
        found = checkpoints.model_variables(model)[f"{name}/embeddings"].numpy()
        expected = stored["embedding/embeddings"][old.source.encode(word)[0]]
        np.testing.assert_array_equal(found[encoder.encode(word)[0]], expected)
        assert f"{name}/embeddings: 4 of 5 entries" in str(started)
    assert not started.report.missing and not started.report.unused


def test_two_vocabularies_are_mapped_to_a_joint_one(tmp_path):
    first, second = joint("a", "b", "both").source, joint("d", "e", "both").source
    stored = save_run(tmp_path / "run", Vocabularies(first, second))
    new = joint("d", "a", "both", "z")
    _, model = small_model(new)
    started = warm_start(model, tmp_path / "run", vocabularies=new, other_vocabulary="map")
    found = checkpoints.model_variables(model)["embedding/embeddings"].numpy()
    # A word of both is taken from the source.
    for word, old, name in (
        ("a", first, "embedding"),
        ("both", first, "embedding"),
        ("d", second, "target_embedding"),
    ):
        expected = stored[f"{name}/embeddings"][old.encode(word)[0]]
        np.testing.assert_array_equal(found[new.source.encode(word)[0]], expected)
    assert "embedding/embeddings: 6 of 7 entries" in str(started)
    assert started.report.unused == ("softmax/embeddings",)


def test_new_tables_stay_random(tmp_path):
    stored = save_run(tmp_path / "run", joint("a", "b", "c"))
    other = joint("a", "b", "d")
    _, model = small_model(other)
    before = model.source_embedding.kernel.numpy()
    started = warm_start(model, tmp_path / "run", vocabularies=other, other_vocabulary="new")
    np.testing.assert_array_equal(model.source_embedding.kernel.numpy(), before)
    assert f"{len(stored) - 1} of {len(stored)} variables taken, 1 start from" in str(started)
    assert "1 of the vocabulary left at random values:\n  embedding/emb" in str(started)
    assert "missing from" not in str(started)


def test_a_run_without_its_vocabulary_cannot_be_mapped(tmp_path):
    save_run(tmp_path / "run", joint("a", "b", "c"), keeps=False)
    other = joint("a", "b", "d")
    _, model = small_model(other)
    with pytest.raises(UserError, match=r"no copy of its vocabulary; copy"):
        warm_start(model, tmp_path / "run", vocabularies=other, other_vocabulary="map")


def test_subwords_of_tensor2tensor_are_not_mapped(tmp_path):
    theirs, other, ours = (
        Vocabularies(encoder, encoder)
        for encoder in (t2t_subwords(), t2t_subwords("cat_"), joint("a").source)
    )
    save_run(tmp_path / "tuned", theirs)
    save_run(tmp_path / "mine", ours)
    save_run(tmp_path / "imported", theirs, keeps=False)
    imported = dataclasses.replace(RunRecord.load(tmp_path / "imported"), problem="")
    imported.save(tmp_path / "imported")
    (tmp_path / "imported" / T2T_VOCABULARY).write_bytes(theirs.source.model_bytes)
    for name, new in (("tuned", ours), ("imported", ours), ("tuned", other), ("mine", theirs)):
        _, model = small_model(new)
        with pytest.raises(UserError, match=r"=map: .* tensor2tensor's own subwords, which mark"):
            warm_start(model, tmp_path / name, vocabularies=new, other_vocabulary="map")


def test_a_run_that_was_imported_without_its_vocabulary(tmp_path):
    new = joint("a", "b", "c")
    save_run(tmp_path / "run", new)
    record = dataclasses.replace(RunRecord.load(tmp_path / "run"), problem="", vocabulary="")
    record.save(tmp_path / "run")
    _, model = small_model(new)
    with pytest.raises(UserError, match=r"does not say which vocabulary.*t2t-phrase-import --voc"):
        warm_start(model, tmp_path / "run", vocabularies=new)


def adapted_model(rank):
    hparams, _ = small_model(joint("a", "b", "c"))
    return registry.models["transformer"].from_hparams(
        hparams.replace(lora_rank=rank), vocab_size=8
    )


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_low_rank_updates_are_not_lost(tmp_path, rank):
    trained, model = adapted_model(2), adapted_model(rank)
    rng = np.random.default_rng(0)
    stored = {
        name: rng.normal(size=v.shape).astype(np.float32)
        for name, v in checkpoints.model_variables(trained).items()
    }
    checkpoints.write(tmp_path / "model.ckpt-7", model=stored, step=7)
    started = warm_start(model, tmp_path)
    checkpoints.restore(trained, tmp_path / "model.ckpt-7")
    ids = {"inputs": np.array([[3, 4, 1]]), "targets": np.array([[4, 3, 1]])}
    np.testing.assert_allclose(model(ids), trained(ids), rtol=1e-4, atol=1e-4)
    assert started.report.unused == () and bool(started.adapted) == (rank != 2)
