import numpy as np
import pytest
from tiny_training import make_stepper, make_trainer, random_pairs, weights, write_shards

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.warm_start import warm_start


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
        f"warm start from {tmp_path}/model.ckpt-7: 1 variables match\n"
        "1 missing in the checkpoint:\n  softmax/kernel\n"
        "1 of another shape:\n  softmax/bias: (9,) in the checkpoint, (32,) in the model\n"
        "1 not used by the model:\n  extra"
    )
    assert int(target.optimizer.iterations) == 0


def test_nothing_fits(tmp_path):
    checkpoints.write(tmp_path / "model.ckpt-7", model={"other": np.zeros(2)}, step=7)
    with pytest.raises(UserError, match=r"--warm_start_from=.*: no weight of it fits the model"):
        warm_start(make_stepper().model, tmp_path)


def test_the_run_begins_at_step_0_with_the_weights(tmp_path):
    files = write_shards(tmp_path, random_pairs([5] * 12))
    make_trainer(tmp_path / "first", files, make_stepper(), train_steps=4).train()
    stepper = make_stepper(seed=8)
    warm_start(stepper.model, tmp_path / "first")
    trainer = make_trainer(tmp_path / "second", files, stepper, train_steps=2)
    assert trainer.train().step == 2
