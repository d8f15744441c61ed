"""Models that the library does not know, through its commands: datagen to SavedModel."""

import json
import pathlib
import random
from typing import Any

import forked
import numpy as np
import pytest
import tensorflow as tf
from toy_run import WORDS, call

from t2t_phrase.bin import datagen, decoder, exporter, trainer
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.load_model import load_model

TOYS = pathlib.Path(__file__).resolve().parents[1] / "toys"
USER_MODULE = f"""
import sys

sys.path.append({str(TOYS)!r})
from auxiliary_loss_model import ToyAuxiliaryHParams
from featured_model import ToyFeaturedHParams
from lstm_model import ToyLstmHParams
from t2t_phrase import registry
from t2t_phrase.data.sources.local_problem import LocalProblem

BATCHES = dict(
    batch_size=128,
    max_length=32,
    length_bucket_step=2.0,
    hidden_size=16,
    learning_rate_schedule="constant",
    learning_rate_constant=0.01,
)
TRANSFORMER = dict(num_hidden_layers=1, filter_size=16, num_heads=2)


@registry.problems.register
class TranslateToyFiles(LocalProblem):
    languages = ("en", "de")
    vocab_size = 300
    num_shards = 1
    features = ToyFeaturedHParams().features


@registry.hparams.register
def toy_lstm_tiny():
    return ToyLstmHParams(**BATCHES)


@registry.hparams.register
def toy_featured_tiny():
    return ToyFeaturedHParams(**BATCHES, **TRANSFORMER)


@registry.hparams.register
def toy_auxiliary_tiny():
    return ToyAuxiliaryHParams(**BATCHES, **TRANSFORMER)
"""
# What is barely trained would often stop at once.
DECODE = "beam_size=3,extra_length=4,min_length=3"


class Toy:
    """A corpus, its records, and runs by name."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        for name in ("user", "raw"):
            (folder / name).mkdir()
        (folder / "user" / "__init__.py").write_text(USER_MODULE)
        draw = random.Random(0)
        for split, count in (("train", 80), ("dev", 8), ("test", 8)):
            sources = [draw.choices(WORDS, k=draw.randint(1, 6)) for _ in range(count)]
            cases = [[draw.randrange(5) for _ in source] for source in sources]
            self.write(f"{split}.en", sources)
            self.write(f"{split}.en.cases", cases)
            self.write(f"{split}.de", [source[::-1] for source in sources])
            # What the tag of a target word is depends on the case of its source word.
            self.write(f"{split}.de.tags", [[4 - n for n in row[::-1]] for row in cases])
        self.call(datagen, f"--tmp_dir={folder / 'raw'}", run="")

    def write(self, name: str, rows: list[list[Any]]) -> None:
        lines = (" ".join(map(str, row)) + "\n" for row in rows)
        (self.folder / "raw" / name).write_text("".join(lines))

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text().splitlines()

    def call(self, command: Any, *arguments: str, run: str) -> None:
        """Run a command; `run` is the name of a run's folder."""
        common = [
            "--problem=translate_toy_files",
            f"--data_dir={self.folder / 'data'}",
            f"--t2t_usr_dir={self.folder / 'user'}",
        ]
        if run:
            common.append(f"--output_dir={self.folder / run}")
        call(command, *common, *arguments)

    def train(self, model: str, steps: int, *more: str, run: str = "") -> pathlib.Path:
        self.call(
            trainer,
            f"--hparams_set={model}_tiny",
            f"--train_steps={steps}",
            f"--local_eval_frequency={steps // 2}",
            f"--log_step_count_steps={steps // 2}",
            f"--decode_hparams={DECODE}",
            *more,
            run=run or model,
        )
        return self.folder / (run or model)

    def decode(self, run: str, source: str, *more: str) -> list[str]:
        """Return what the decoder makes of the file."""
        self.call(
            decoder,
            f"--decode_from_file={self.folder / source}",
            f"--decode_to_file={self.folder / 'decoded'}",
            f"--decode_hparams={DECODE}",
            *more,
            run=run,
        )
        return self.lines("decoded")

    def scores(self, run: str, pairs: list[tuple[str, str]], *more: str) -> np.ndarray:
        """Return the log-probabilities of pairs; the decoder writes them without their sign."""
        (self.folder / "pairs").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
        self.call(
            decoder,
            f"--score_file={self.folder / 'pairs'}",
            f"--decode_to_file={self.folder / 'scores'}",
            *more,
            run=run,
        )
        return -np.array([float(line.split("\t")[0]) for line in self.lines("scores")])

    def served(self, run: str) -> Any:
        """Return the signatures of the run's SavedModel."""
        self.call(exporter, f"--decode_hparams={DECODE}", run=run)
        return tf.saved_model.load(str(self.folder / run / "export" / "1")).signatures


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy(tmp_path_factory.mktemp("toys"))


def evaluations(run: pathlib.Path) -> dict[str, Any]:
    return json.loads((run / "evaluations.json").read_text())


def texts(found: Any) -> list[str]:
    return [text.decode() for text in found.numpy()]


@pytest.fixture(scope="module")
def lstm(toy: Toy) -> pathlib.Path:
    return toy.train("toy_lstm", 120)


def test_an_lstm_learns(lstm: pathlib.Path) -> None:
    scores = evaluations(lstm)
    assert scores["120"]["nll"] < scores["60"]["nll"] - 0.2
    assert "bleu" in scores["120"]


@pytest.mark.slow
def test_an_interrupted_lstm_ends_the_same_bit_for_bit(toy: Toy, lstm: pathlib.Path) -> None:
    """Dropout is active, and the interruption lies within an epoch."""
    for steps in (50, 120):
        halves = toy.train("toy_lstm", steps, "--noeval_run_autoregressive", run="halves")
    for group in ("model", "optimizer"):
        one, other = (
            checkpoints.read_tensors(run / "model.ckpt-120", group) for run in (lstm, halves)
        )
        assert one.keys() == other.keys() and len(one) > 5
        for name, value in one.items():
            np.testing.assert_array_equal(value, other[name], err_msg=name)


@pytest.mark.slow
def test_an_lstm_is_decoded_scored_and_served(toy: Toy, lstm: pathlib.Path) -> None:
    sources = toy.lines("raw/test.en")
    found = toy.decode("toy_lstm", "raw/test.en")
    assert len(found) == len(sources) and len(set(found)) > 2
    targets = toy.lines("raw/test.de")
    pairs = list(zip(sources, targets, strict=True))
    right = toy.scores("toy_lstm", pairs)
    assert right.shape == (len(pairs),) and (right < 0).all()
    served = toy.served("toy_lstm")
    answer = served["serving_default"](text=tf.constant(sources))
    assert texts(answer["translation"]) == found
    scored = served["score"](source=tf.constant(sources), target=tf.constant(targets))
    np.testing.assert_allclose(scored["log_probability"], right, rtol=1e-3)


# Logical devices must be made before TensorFlow starts: a process of its own.
TWO_DEVICES = """
import json
import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from lstm_model import ToyLstm, ToyLstmHParams
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.optimizers import make_optimizer
from t2t_phrase.training.schedules import make_schedule
from t2t_phrase.training.step import Stepper

batch = np.random.default_rng(0).integers(3, 19, (2, 4, 9)).astype(np.int32)
batch[0, 1, 2:] = batch[1, 2, 1:] = batch[:, 3] = 0
features = dict(zip(("inputs", "targets"), batch))
hparams = ToyLstmHParams(
    dropout=0.0, learning_rate_schedule="constant", learning_rate_constant=0.01
)
found = []
for strategy in (make_strategy(devices=["CPU:0", "CPU:1"]), make_strategy()):
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = ToyLstm.from_hparams(hparams, vocab_size=19)
        optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=3))
        optimizer.build(model.trainable_variables)
    stepper = Stepper(strategy, model, optimizer, seed=1)
    losses = [float(stepper.train(features).objective) for _ in range(3)]
    found.append({"replicas": stepper.replicas, "losses": losses})
print(json.dumps(found))
"""


@pytest.mark.slow
def test_an_lstm_on_two_devices_is_one_on_the_joined_batch() -> None:
    ended = forked.run_source(TWO_DEVICES)
    assert ended.code == 0, ended.err
    two, one = json.loads(ended.out.splitlines()[-1])
    assert (two["replicas"], one["replicas"]) == (2, 1)
    # Later losses come after updates, so they depend on the gradients.
    assert len({round(loss, 2) for loss in one["losses"]}) == 3
    np.testing.assert_allclose(two["losses"], one["losses"], rtol=1e-4)


@pytest.fixture(scope="module")
def featured(toy: Toy) -> pathlib.Path:
    return toy.train("toy_featured", 40)


@pytest.mark.slow
def test_features_of_both_sides_are_trained_on(featured: pathlib.Path) -> None:
    scores = evaluations(featured)
    # The tags follow from the cases of the source.
    assert scores["40"]["tags"] < scores["20"]["tags"] < np.log(5) + 0.2


FILES = {"cases": "test.en.cases", "tags": "test.de.tags"}


def others_of(rows: list[str]) -> list[str]:
    """Return other numbers for as many words."""
    return [" ".join(str((int(number) + 2) % 5) for number in row.split()) for row in rows]


@pytest.mark.slow
def test_features_reach_decoder_scorer_and_saved_model(toy: Toy, featured: pathlib.Path) -> None:
    """Translations follow the feature of the source, scores those of both sides."""
    sources, targets = toy.lines("raw/test.en"), toy.lines("raw/test.de")
    cases, tags = toy.lines("raw/test.en.cases"), toy.lines("raw/test.de.tags")
    others = others_of(cases)
    (toy.folder / "others").write_text("".join(f"{row}\n" for row in others))
    # The first file is found by its name.
    found = toy.decode("toy_featured", "raw/test.en")
    moved = toy.decode(
        "toy_featured", "raw/test.en", f"--feature_files=cases={toy.folder / 'others'}"
    )
    served = toy.served("toy_featured")
    for translations, given in ((found, cases), (moved, others)):
        answer = served["serving_default"](text=tf.constant(sources), cases=tf.constant(given))
        assert texts(answer["translation"]) == translations
    assert found != moved

    def score(own: list[str], their: list[str]) -> Any:
        return served["score"](
            source=tf.constant(sources),
            target=tf.constant(targets),
            cases=tf.constant(own),
            tags=tf.constant(their),
        )["log_probability"].numpy()

    right = score(cases, tags)
    files = ",".join(f"{name}={toy.folder / 'raw' / file}" for name, file in FILES.items())
    pairs = list(zip(sources, targets, strict=True))
    found = toy.scores("toy_featured", pairs, f"--feature_files={files}")
    np.testing.assert_allclose(found, right, rtol=1e-3)
    assert np.abs(score(others, tags) - right).min() > 1e-3
    assert np.abs(score(cases, others_of(tags)) - right).min() > 1e-3


@pytest.mark.slow
def test_a_missing_feature_is_named(toy: Toy, featured: pathlib.Path) -> None:
    (toy.folder / "alone").write_text("a cat\n")
    with pytest.raises(UserError, match="the model reads the source feature 'cases'"):
        toy.decode("toy_featured", "alone")
    with pytest.raises(UserError, match="reads no such feature"):
        toy.decode("toy_featured", "alone", "--feature_files=tags=x")


@pytest.mark.slow
def test_an_auxiliary_loss_is_reported_by_name(toy: Toy, capsys: pytest.CaptureFixture) -> None:
    run = toy.train("toy_auxiliary", 20, "--noeval_run_autoregressive")
    out = capsys.readouterr().out.splitlines()
    progress = next(line for line in out if line.startswith("step 20/20  "))
    dev = next(line for line in out if line.startswith("step 20: dev "))
    for line in (progress, dev):
        assert "recovery " in line and "recovery_accuracy " in line and "%" in line
    scores = evaluations(run)
    assert scores["20"]["recovery"] < scores["10"]["recovery"]
    assert load_model(run).record.model == "toy_auxiliary"


@pytest.mark.slow
def test_a_dry_run_of_a_model_with_features(toy: Toy, capsys: pytest.CaptureFixture[str]) -> None:
    toy.train("toy_featured", 2, "--dry_run", run="dry")
    assert "tags/kernel" in capsys.readouterr().out
