"""What a run is built from."""

import dataclasses
import types

import pytest

import t2t_phrase
from t2t_phrase import registry
from t2t_phrase.data.input.pipeline import Position
from t2t_phrase.data.problem import get_problem
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.runs.record import resolve_hparams
from t2t_phrase.training.build import build
from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.fine_tuning import freeze
from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.peers import Peers
from t2t_phrase.training.run_options import RunOptions
from t2t_phrase.training.schedules import make_schedule
from t2t_phrase.training.setup import _frozen_warning, _parts, prepare


@pytest.mark.parametrize(
    ("saves", "evaluate", "parts"),
    [
        (True, True, 4),
        (True, False, 4),
        (False, False, 4),  # --dry_run
        (False, True, 1),  # --schedule=evaluate makes no updates
    ],
)
def test_all_updates_have_the_effective_batch_size(tmp_path, saves, evaluate, parts):
    hparams = TransformerHParams(batch_size=512, effective_batch_size=2048)
    options = types.SimpleNamespace(
        saves=saves, evaluate=evaluate, hparams=hparams, output_dir=tmp_path
    )
    assert _parts(options, 1, Peers(Cluster()), print) == parts


def test_frozen_variables_with_random_values_are_named():
    registry.discover()
    hparams = TransformerHParams(num_hidden_layers=1, hidden_size=8, filter_size=8, num_heads=2)
    model = registry.models["transformer"].from_hparams(hparams, vocab_size=8)
    assert not _frozen_warning(model, ())
    freeze(model, ["embedding/*", "encoder_layer_0/feed_forward/*"])
    text = _frozen_warning(model, ("embedding/embeddings",))
    assert text.startswith("WARNING: 4 frozen variables will keep initial values, random where ")
    assert text.endswith(" and 1 more") and "embedding/embeddings" not in text


def test_options_reach_the_parts_of_a_run(tmp_path):
    lines = [f"the old house number {number} is red" for number in range(12)]
    for name in ("train.src", "train.tgt", "dev.src", "dev.tgt"):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    problem = "translate_text"
    t2t_phrase.generate_data(
        problem, data_dir=str(tmp_path), tmp_dir=str(tmp_path), vocab_size=300, log=str
    )
    overrides = (
        "num_hidden_layers=1,hidden_size=8,filter_size=8,num_heads=2,batch_size=128,max_length=40,"
        "packed_length=64,effective_batch_size=256,clip_grad_norm=0.5,gradient_mean=sentences,"
        "optimizer=sgd,optimizer_momentum=0.5,learning_rate_schedule=constant"
    )
    hparams, _ = resolve_hparams("transformer_tiny", overrides)
    options = RunOptions(
        problem=get_problem(problem),
        data_dir=str(tmp_path),
        output_dir=str(tmp_path / "run"),
        model=hparams.model,
        hparams_set="transformer_tiny",
        overrides=overrides,
        hparams=hparams,
        random_seed=77,
        keep_checkpoint_max=2,
        eval_steps=3,
    )
    loop = LoopOptions(train_steps=9, local_eval_frequency=4)
    trainer = prepare(options, loop, strategy=make_strategy(), log=str).trainer
    stepper, pipeline, directory = trainer.stepper, trainer.pipeline, trainer.directory
    assert (stepper.seed, stepper.parts, stepper.packed) == (77, 2, True)
    assert (stepper.clip_grad_norm, stepper.gradient_mean) == (0.5, "sentences")
    assert stepper.optimizer.momentum == 0.5
    assert (pipeline.seed, pipeline.packed, pipeline.max_length) == (77, True, 40)
    assert (pipeline.buckets.bounds, pipeline.buckets.rows) == ((64,), (4,))
    assert (directory._keep, directory._period) == (2, 4)
    assert trainer.options == loop and trainer.evaluator.eval_steps == 3
    # Once there is a checkpoint, the run is resumed, and says so.
    assert directory.save(4, Position())
    resumed, said = dataclasses.replace(options, warm_start_from="elsewhere"), []
    prepare(resumed, loop, strategy=make_strategy(), log=said.append)
    assert f"{tmp_path / 'run'} has checkpoints: --warm_start_from is ignored" in said


def test_initial_weights_follow_from_the_seed():
    registry.discover()
    hparams = TransformerHParams(num_hidden_layers=1, hidden_size=8, filter_size=8, num_heads=2)
    first, again, other = (
        build(
            hparams,
            name="transformer",
            vocab_size=8,
            target_vocab_size=None,
            schedule=make_schedule(hparams, train_steps=1),
            seed=seed,
            strategy=make_strategy(),
        ).model.source_embedding.kernel.numpy()
        for seed in (1, 1, 2)
    )
    assert (first == again).all() and (first != other).all()
