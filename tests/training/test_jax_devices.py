"""What JAX cannot train with is refused; an update that is only tried changes nothing."""

from __future__ import annotations

import json

import pytest
from backend_process import needs_jax, run_under

pytestmark = needs_jax
WORKERS = {
    "cluster": {"worker": ["localhost:1", "localhost:2"]},
    "task": {"type": "worker", "index": 0},
}
SCRIPT = """
import json, os
import numpy as np
import pytest
from small_phrase_models import SMALL
from t2t_phrase.config import UserError
from t2t_phrase.training.build import build, make_stepper
from t2t_phrase.training.distribution import has_gpu, make_strategy, peak_bytes

with pytest.raises(UserError, match="--worker_gpu=2: JAX finds 0 GPUs on this machine; use at"):
    make_strategy(worker_gpu=2)
os.environ["TF_CONFIG"] = sys.argv[1]
with pytest.raises(UserError, match="TF_CONFIG lists several workers, but KERAS_BACKEND=jax"):
    make_strategy()
del os.environ["TF_CONFIG"]
strategy = make_strategy()
assert strategy.num_replicas_in_sync == 1
assert not has_gpu() and peak_bytes() == {}
sizes = {"vocab_size": 16, "target_vocab_size": None, "seed": 1}
built = build(SMALL, name="transformer", schedule=lambda step: 0.1, strategy=strategy, **sizes)
with pytest.raises(UserError, match="--noxla_compile: JAX compiles everything by XLA; leave"):
    make_stepper(built, SMALL, seed=1, strategy=strategy, xla=False)
lines = []
stepper = make_stepper(built, SMALL, seed=1, strategy=strategy, log=lines.append)
before = [np.array(v) for v in (*built.model.variables, *built.optimizer.variables)]
stepper.probe(stepper.fake_features(2, 4, 6))
for variable, value in zip((*built.model.variables, *built.optimizer.variables), before):
    np.testing.assert_array_equal(variable, value)
assert len(lines) == 1 and lines[0].startswith("compiled the train step for 2 x 4 and 2 x 6 tokens")
assert stepper.agreement.of_chief([1.0, 2.5]) == [1.0, 2.5] and stepper.agreement.is_chief
"""


@pytest.mark.slow
def test_devices_and_refusals() -> None:
    run_under(SCRIPT, json.dumps(WORKERS))
