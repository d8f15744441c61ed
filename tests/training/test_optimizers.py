"""Optimizers from hparams, and their state through a checkpoint."""

import inspect

import keras
import numpy as np
import pytest
from mostly_slow import mostly_slow
from tiny_training import make_stepper

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.runs import checkpoints
from t2t_phrase.training.optimizers import make_optimizer, options_of
from t2t_phrase.training.schedules import make_schedule
from t2t_phrase.training_hparams import OPTIMIZER_FIELDS, OPTIMIZERS

IDS = np.random.default_rng(0).integers(3, 32, (2, 4, 6)).astype(np.int32)
BATCH = {"inputs": IDS[0], "targets": IDS[1]}


def made(overrides):
    hparams = TransformerHParams().override(overrides)
    return make_optimizer(hparams, make_schedule(hparams, train_steps=10))


def test_the_names_are_those_of_keras_and_read_the_fields_that_their_constructors_have():
    found = {}
    for cls in vars(keras.optimizers).values():
        if not inspect.isclass(cls) or not issubclass(cls, keras.optimizers.Optimizer):
            continue
        parameters = inspect.signature(cls.__init__).parameters
        # The others wrap an optimizer, are the base of all, or need other weights in evaluation.
        if "learning_rate" in parameters and not cls.__name__.startswith("ScheduleFree"):
            found[cls.__module__.rpartition(".")[2]] = {
                field
                for field, name in OPTIMIZER_FIELDS.items()
                # Muon's momentum is 0.95 by default, and one of its options.
                if name in parameters and not (name == "momentum" and parameters[name].default)
            }
    assert {name: set(fields) for name, fields in OPTIMIZERS.items()} == found


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_is_made_and_takes_its_options(name):
    optimizer = made(f"optimizer={name}")
    assert name.replace("_", "") in [base.__name__.lower() for base in type(optimizer).mro()]
    options = options_of(name)
    assert "weight_decay" in options and not options.keys() & {"learning_rate", "name", "beta_1"}
    for option, default in options.items():
        value = default or (0.125 if default is None else default)
        more = ",use_ema=true" if option == "ema_momentum" else ""
        optimizer = made(f"optimizer={name},optimizer_options=[{option}={value}{more}]")
        assert getattr(optimizer, option) == value


def test_adam_is_tensor2tensors():
    hparams = TransformerHParams(
        optimizer_adam_beta1=0.8,
        optimizer_adam_beta2=0.95,
        optimizer_adam_epsilon=1e-7,
        learning_rate_schedule="constant*rsqrt_hidden_size*linear_decay",
        learning_rate_constant=3.0,
        learning_rate_decay_steps=10,
        hidden_size=64,
    )
    schedule = make_schedule(hparams, train_steps=15)
    optimizer = make_optimizer(hparams, schedule)
    assert isinstance(optimizer, keras.optimizers.Adam) and optimizer.name == "adam"
    assert (optimizer.beta_1, optimizer.beta_2, optimizer.epsilon) == (0.8, 0.95, 1e-7)
    assert float(optimizer.learning_rate) == pytest.approx(3.0 / 8)
    assert float(schedule(10)) == pytest.approx(0.5 * 3.0 / 8)


def test_fields_and_options_reach_the_constructor():
    sgd = made("optimizer=sgd,optimizer_momentum=0.5,optimizer_options=[nesterov=true]")
    assert (sgd.momentum, sgd.nesterov, sgd.weight_decay) == (0.5, True, None)
    adadelta = made("optimizer=adadelta,optimizer_options=[weight_decay=0.01,rho=0.9]")
    assert (adadelta.weight_decay, adadelta.rho, adadelta.epsilon) == (0.01, 0.9, 1e-9)
    assert made("optimizer=muon,optimizer_options=[ns_steps=3]").ns_steps == 3
    assert made("optimizer=muon").momentum == 0.95


@pytest.mark.parametrize(("overrides", "message"), [
    ("optimizer=adamv", "optimizer: unknown optimizer 'adamv'; known: adadelta, adafactor, "),
    ("optimizer=adamv", "; did you mean adam"),
    ("optimizer=sgd,optimizer_adam_beta1=0.9", "optimizer=sgd does not read optimizer_adam_beta1;"),
    ("optimizer_momentum=0.9", "optimizer_momentum=0.9: adam does not read it"),
    ("optimizer=lion,optimizer_momentum=0.0", "optimizer=lion does not read optimizer_momentum"),
    (
        "optimizer_options=[rho=0.9]",
        "adam has no option 'rho'; known: amsgrad, ema_momentum, use_ema, weight_decay",
    ),
    ("optimizer_options=[amsgard=true]", "; did you mean amsgrad?"),
    ("optimizer_options=[amsgrad=0.5]", "amsgrad must be true or false, got 'amsgrad=0.5'"),
    ("optimizer_options=[weight_decay=true]", "weight_decay must be a number"),
    ("optimizer_options=[weight_decay]", "expected name=value with a number, true or false, got"),
    ("optimizer_options=[weight_decay=nan]", "expected name=value with a number"),
    ("optimizer_options=[weight_decay=1,weight_decay=2]", "weight_decay is given twice"),
    ("optimizer=ftrl,optimizer_options=[learning_rate_power=1.0]", "optimizer=ftrl: `learning_"),
    # What the trainer decides is not an option.
    ("optimizer_options=[global_clipnorm=1.0]", "adam has no option 'global_clipnorm'"),
    ("optimizer_options=[beta_1=0.5]", "adam has no option 'beta_1'"),
    # Keras would ignore or compute with these.
    ("optimizer_options=[ema_momentum=0.9]", "ema_momentum is read only with use_ema=true"),
    ("optimizer_options=[use_ema=false,ema_momentum=0.9]", "only with use_ema=true"),
    ("optimizer_options=[use_ema=true,ema_momentum=1]", "ema_momentum must be in [0, 1), got"),
    ("optimizer_options=[weight_decay=-1]", "weight_decay must not be negative, got"),
    ("optimizer=muon,optimizer_options=[adam_weight_decay=-0.1]", "adam_weight_decay must not"),
    ("optimizer=muon,optimizer_options=[ns_steps=2.5]", "ns_steps must be a positive integer"),
    ("optimizer=muon,optimizer_options=[ns_steps=-3]", "ns_steps must be a positive integer"),
    ("optimizer=muon,optimizer_options=[momentum=2]", "momentum must be in [0, 1), got"),
    ("optimizer=muon,optimizer_options=[adam_beta_2=1.0]", "adam_beta_2 must be in [0, 1), got"),
    ("optimizer=adadelta,optimizer_options=[rho=3]", "rho must be in [0, 1), got"),
])  # fmt: skip
def test_what_nothing_reads_is_an_error(overrides, message):
    with pytest.raises(HParamsError) as caught:
        made(overrides)
    assert message in str(caught.value)


def test_options_of_a_set_are_kept_while_its_optimizer_is():
    options = ("momentum=0.9", "weight_decay=0.0")
    muon = TransformerHParams(optimizer="muon", optimizer_options=options)

    def changed(text):
        return muon.override(text).optimizer_options

    assert changed("optimizer_options=[use_ema=true]") == (*options, "use_ema=true")
    assert changed("optimizer_options=[momentum=0.8]") == ("momentum=0.8", "weight_decay=0.0")
    assert changed("optimizer=muon,optimizer_options=[momentum = 0.8]")[0] == "momentum = 0.8"
    assert changed("optimizer=adamw,optimizer_options=[weight_decay=0.1]") == ("weight_decay=0.1",)
    assert changed("optimizer=adam") == ()
    assert changed("optimizer_options=[]") == () and changed("batch_size=512") == options
    with pytest.raises(HParamsError, match="momentum is given twice"):
        changed("optimizer_options=[momentum=0.8,momentum=0.7]")


@pytest.mark.parametrize("overrides", [
    *mostly_slow(
        (
            "optimizer=sgd,optimizer_momentum=0.9",
            "optimizer=adamw,optimizer_options=[amsgrad=true]",
            *(f"optimizer={name}" for name in OPTIMIZERS if name not in ("sgd", "adamw")),
        ),
        *("optimizer=adam", "optimizer=muon"),
    ),
])  # fmt: skip
def test_state_is_saved_and_restored_bit_for_bit(overrides, tmp_path):
    hparams = TransformerHParams().override(overrides)

    def new():
        stepper = make_stepper(
            optimizer=lambda rate: make_optimizer(hparams, rate), rate=0.01, seed=3
        )
        named = checkpoints.optimizer_variables(stepper.optimizer, stepper.model)
        assert len(named) == len(stepper.optimizer.variables)
        return stepper, checkpoints.model_variables(stepper.model), named

    stepper, model, state = new()
    for _ in range(2):
        stepper.train(BATCH)
    checkpoints.write(tmp_path / "model.ckpt-2", model=model, optimizer=state, step=2)
    resumed, resumed_model, resumed_state = new()
    for group, variables in (("model", resumed_model), ("optimizer", resumed_state)):
        report = checkpoints.assign(tmp_path / "model.ckpt-2", variables, group=group)
        assert len(report.matched) == len(variables) and not report.unused
    for one in (stepper, resumed):
        one.train(BATCH)
    for found, expected in ((resumed_model, model), (resumed_state, state)):
        for name, variable in expected.items():
            np.testing.assert_array_equal(found[name].value, variable.value, err_msg=name)


def test_slots_are_named_after_variables():
    stepper = make_stepper(optimizer=lambda rate: keras.optimizers.Adadelta(rate))
    names = set(checkpoints.optimizer_variables(stepper.optimizer, stepper.model))
    assert {"softmax/kernel/accumulated_grad", "softmax/bias/accumulated_delta_var"} < names
    stepper = make_stepper(optimizer=lambda rate: keras.optimizers.Adafactor(rate))
    names = list(checkpoints.optimizer_variables(stepper.optimizer, stepper.model))
    # Keras names the row and column factors like the variable, without its layer.
    assert [n for n in names if n.startswith("kernel")] == ["kernel", "kernel:2"]


def test_registered_optimizers_are_chosen_by_name_and_read_what_their_constructors_have(
    monkeypatch,
):
    class Plain(keras.optimizers.SGD):
        def __init__(self, learning_rate=0.1, beta_1=0.5, scale=1.0, name="plain", **kwargs):
            super().__init__(learning_rate=learning_rate, name=name, **kwargs)
            self.beta_1, self.scale = beta_1, scale

    monkeypatch.setattr(registry.optimizers, "_entries", {})
    registry.optimizers.register(Plain)
    optimizer = made("optimizer=plain,optimizer_adam_beta1=0.25,optimizer_options=[scale=2.0]")
    assert isinstance(optimizer, Plain) and (optimizer.beta_1, optimizer.scale) == (0.25, 2.0)
    with pytest.raises(HParamsError, match="optimizer=plain does not read optimizer_momentum"):
        made("optimizer=plain,optimizer_momentum=0.0")
    with pytest.raises(HParamsError, match="plain has no option 'scales'"):
        made("optimizer=plain,optimizer_options=[scales=2.0]")
    with pytest.raises(HParamsError, match="did you mean plain"):
        made("optimizer=plane")
