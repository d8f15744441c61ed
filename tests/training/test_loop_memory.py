"""A long training takes no more and more memory."""

import gc

import pytest
from tensorflow.python.framework import constant_op
from tiny_training import make_stepper, make_trainer, random_pairs, write_shards

from t2t_phrase.data.input.prefetch import Prefetcher
from t2t_phrase.training import loop


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    pairs = random_pairs([1 + i * 7 % 12 for i in range(50)])
    return write_shards(tmp_path_factory.mktemp("records"), pairs)


class Unthreaded(Prefetcher):
    """Makes each batch when it is asked for."""

    def __init__(self, source):
        self.waited = 0.0
        self._source = source

    def __next__(self):
        return next(self._source)

    def close(self):
        pass


@pytest.mark.slow
def test_nothing_grows_from_evaluation_to_evaluation(files, tmp_path, monkeypatch):
    # A tensor fails to make its shape in one thread while another lists all objects.
    monkeypatch.setattr(loop, "Prefetcher", Unthreaded)
    stepper = make_stepper()
    counts = []

    def log(text):
        if text.startswith("step") and "dev loss" in text:
            gc.collect()
            modules = [str(type(kept).__module__) for kept in gc.get_objects()]
            counts.append(sum(name.startswith(("tensorflow", "keras")) for name in modules))

    trainer = make_trainer(
        tmp_path, files, stepper, train_steps=12, local_eval_frequency=1, evaluate=True, log=log
    )
    trainer.train()
    assert stepper.compilations == 2
    # The first ones build what is then kept; a new epoch holds some more for a while.
    assert len(counts) == 12 and min(counts[-4:]) <= min(counts[2:6]), counts


def test_no_python_number_becomes_a_tensor_at_every_step(files, tmp_path, monkeypatch):
    # TensorFlow would keep each of them for ever.
    seen, convert = set(), constant_op.convert_to_eager_tensor

    def noted(value, *arguments, **options):
        if type(value) in (int, float):
            seen.add(value)
        return convert(value, *arguments, **options)

    counts = []

    def log(text):
        if "dev loss" in text:
            counts.append(len(seen))

    monkeypatch.setattr(constant_op, "convert_to_eager_tensor", noted)
    make_trainer(tmp_path, files, make_stepper(), train_steps=12, evaluate=True, log=log).train()
    # The first evaluation traces its function.
    assert counts[0] > 0 and counts[1] == counts[2], sorted(seen)
