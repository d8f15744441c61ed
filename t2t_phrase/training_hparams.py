"""The training options that all model families share."""

from __future__ import annotations

import dataclasses
import inspect
import math
import struct
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, TypeVar

from t2t_phrase import registry, tensor2tensor_options
from t2t_phrase.config import HParams, HParamsError, UserError, nearest, parse_assignments, shown
from t2t_phrase.features import Feature

# Factors of the learning rate that the library defines; `registry.schedule_factors` has others.
SCHEDULE_FACTORS = (
    "constant",
    "linear_warmup",
    "rsqrt_decay",
    "rsqrt_hidden_size",
    "linear_decay",
    "cosdecay",
    "halving",
)

# Fields that set a constructor argument of an optimizer.
OPTIMIZER_FIELDS = {
    "optimizer_adam_beta1": "beta_1",
    "optimizer_adam_beta2": "beta_2",
    "optimizer_adam_epsilon": "epsilon",
    "optimizer_momentum": "momentum",
}
_BETAS = ("optimizer_adam_beta1", "optimizer_adam_beta2")
_ADAM = (*_BETAS, "optimizer_adam_epsilon")
# The factors of the schedule that read a field; a user's factor may read any.
_READ_BY = {
    "learning_rate_constant": ("constant",),
    "learning_rate_warmup_steps": ("linear_warmup", "rsqrt_decay", "cosdecay"),
    "learning_rate_decay_steps": ("linear_decay", "cosdecay"),
}
# The optimizers of Keras, named after their modules, each with the fields that it reads;
# `registry.optimizers` has others.
OPTIMIZERS: dict[str, tuple[str, ...]] = {
    "adadelta": ("optimizer_adam_epsilon",),
    "adafactor": (),
    "adagrad": ("optimizer_adam_epsilon",),
    "adam": _ADAM,
    "adamw": _ADAM,
    "adamax": _ADAM,
    "ftrl": (),
    "lamb": _ADAM,
    "lion": _BETAS,
    "muon": ("optimizer_adam_epsilon",),
    "nadam": _ADAM,
    "rmsprop": ("optimizer_momentum", "optimizer_adam_epsilon"),
    "sgd": ("optimizer_momentum",),
}

T = TypeVar("T", bound="TrainingHParams")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingHParams(HParams):
    """Batches, optimizer and learning rate; most names and defaults are those of tensor2tensor."""

    batch_size: int = 4096  # tokens of the longer side, padding included, per replica
    effective_batch_size: int = 0  # likewise per update, over all replicas; 0 = batch_size on each
    packed_length: int = 0  # tokens of a side in rows of several pairs; 0 = one pair a row
    max_length: int = 256  # longer training examples are dropped, and counted
    min_length_bucket: int = 8  # shortest padded length
    length_bucket_step: float = 1.1  # ratio of one padded length to the next
    sampled_segmentations: int = 0  # random ones made by datagen, one an epoch in turn; 0 = none
    label_smoothing: float = 0.1  # probability mass taken from the correct token
    # Of the next fields, --hparams may set only those that the optimizer reads, see OPTIMIZERS.
    optimizer: str = "adam"  # any optimizer of Keras: sgd, adamw, adafactor, ...
    optimizer_adam_beta1: float = 0.9  # read by optimizers with a parameter beta_1
    optimizer_adam_beta2: float = 0.997  # read by optimizers with a parameter beta_2
    optimizer_adam_epsilon: float = 1e-9  # read by optimizers with a parameter epsilon
    optimizer_momentum: float = 0.0  # read by sgd and rmsprop
    optimizer_options: tuple[str, ...] = ()  # other parameters: [weight_decay=0.01,rho=0.9]
    learning_rate_schedule: str = "constant*linear_warmup*rsqrt_decay*rsqrt_hidden_size"
    learning_rate_constant: float = 2.0
    learning_rate_warmup_steps: int = 8000
    learning_rate_decay_steps: int = 5000  # read by linear_decay and cosdecay
    learning_rate_halving_start: int = 0  # step of the first halving; set with halving only
    learning_rate_halving_steps: int = 0  # steps between halvings; set with halving only
    clip_grad_norm: float = 0.0  # largest global norm of the gradient; 0 = no limit
    gradient_mean: Literal["tokens", "sentences"] = "tokens"  # mean over target tokens or sentences
    dtype_policy: Literal["float32", "mixed_bfloat16", "mixed_float16"] = (
        "float32"  # variables stay float32; float16 is trained with dynamic loss scaling
    )
    # Fine-tuning; patterns as for file names match variable names as --dry_run prints them.
    frozen_variables: tuple[str, ...] = ()  # variables that keep their values: [embedding/*]
    learning_rate_factors: tuple[str, ...] = ()  # of some variables: [encoder_*=0.1]
    lora_rank: int = 0  # train low-rank updates of dense kernels only; 0 = all weights

    instead: ClassVar[Mapping[str, str]] = tensor2tensor_options.HPARAMS
    # Registered name of the model that reads these fields; every subclass for a model sets it.
    model: ClassVar[str]
    # The reason that this model cannot be trained on rows of several pairs; empty: it keeps the
    # pairs apart, see `features.PAIRS`. A class that sets its own `model`, which may not keep them
    # apart, does not inherit this field.
    cannot_pack: ClassVar[str] = (
        "its model does not declare that it keeps the pairs of a row separate"
    )

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the model reads in addition to the token ids of both sides."""
        return ()

    @property
    def supervision(self) -> tuple[Feature, ...]:
        """The features that only the loss reads: translator and scorer do not receive them."""
        return ()

    @property
    def training_features(self) -> tuple[Feature, ...]:
        """The features in batches of the training and development sets."""
        return (*self.features, *self.supervision)

    def parts(self, replicas: int) -> int:
        """Return the number of parts that each replica divides its share of a batch into.

        Raises:
            HParamsError: the replicas cannot share a batch of `effective_batch_size`.
        """
        if not self.effective_batch_size:
            return 1
        parts, rest = divmod(self.effective_batch_size, self.batch_size * replicas)
        if rest or not parts:
            raise HParamsError(
                not_a_multiple(self.effective_batch_size, self.batch_size, replicas=replicas)
            )
        return parts

    def override(self: T, text: str) -> T:
        """Return a copy with overrides in T2T's syntax, `a=1,b=[1,2],c=true`.

        While the optimizer stays the same, its other options are kept; an empty list removes all. A
        change of the optimizer removes them, too, since they belong to the other one.

        Raises:
            HParamsError: names are unknown, values are wrong, or neither the optimizer nor the
                schedule reads a field.
        """
        changed = super().override(text)
        given = parse_assignments(text)
        options = changed.optimizer_options
        if changed.optimizer != self.optimizer:
            if "optimizer_options" not in given:
                changed = changed.replace(optimizer_options=())
        elif "optimizer_options" in given and options:
            changed = changed.replace(optimizer_options=_merged(self.optimizer_options, options))
        read = fields_of(changed.optimizer)
        unread = [name for name in given if name in OPTIMIZER_FIELDS and name not in read]
        faults = []
        if unread:
            faults.append(
                f"optimizer={changed.optimizer} does not read {', '.join(unread)}; it reads "
                f"{', '.join((*read, 'optimizer_options'))}"
            )
        schedule = changed.learning_rate_schedule
        factors = {factor.strip() for factor in schedule.split("*")}
        if factors.isdisjoint(registry.schedule_factors):
            faults += [
                f"learning_rate_schedule={schedule} does not read {name}, which "
                f"{', '.join(readers)} would"
                for name, readers in _READ_BY.items()
                if name in given and factors.isdisjoint(readers)
            ]
        if faults:
            raise HParamsError(f"{type(self).__name__}: {'; '.join(faults)}")
        return changed

    def check(self) -> Iterable[str]:
        """Yield one sentence for each conflict between fields."""
        yield from super().check()
        for name in (
            "batch_size",
            "min_length_bucket",
            "optimizer_adam_epsilon",
            "learning_rate_constant",
            "learning_rate_warmup_steps",
            "learning_rate_decay_steps",
        ):
            if getattr(self, name) <= 0:
                yield f"{name}: must be positive, got {getattr(self, name)}"
        yield from self.below_one("label_smoothing", *_BETAS, "optimizer_momentum")
        yield from self.at_most(
            # Nobody translates longer sentences as a whole.
            max_length=2**16,
            # Beyond these, the weights would soon be infinite or the updates zero.
            learning_rate_constant=10**6,
            optimizer_adam_epsilon=10**6,
            clip_grad_norm=1e30,
            length_bucket_step=10**6,
        )
        if self.length_bucket_step <= 1:
            yield f"length_bucket_step: must be above 1, got {self.length_bucket_step}"
        if self.max_length < self.min_length_bucket:
            shortest = self.min_length_bucket
            yield f"max_length={self.max_length} is below min_length_bucket={shortest}"
        if self.batch_size < self.max_length:
            yield (
                f"batch_size={self.batch_size} tokens cannot hold one sentence of "
                f"max_length={self.max_length}"
            )
        yield from self._check_packing()
        effective = self.effective_batch_size
        if self.batch_size > 0 and (effective % self.batch_size or effective < 0):
            yield not_a_multiple(effective, self.batch_size, replicas=1)
        if self.sampled_segmentations < 0:
            yield f"sampled_segmentations: must not be negative, got {self.sampled_segmentations}"
        if self.clip_grad_norm < 0:
            yield f"clip_grad_norm: must not be negative, got {self.clip_grad_norm}"
        if not 0 <= self.lora_rank <= 1024:
            yield f"lora_rank: must be from 0 to 1024, got {self.lora_rank}"
        for text in self.learning_rate_factors:
            try:
                parse_factor(text)
            except HParamsError as error:
                yield str(error)
        yield from self._check_optimizer()
        yield from self._check_schedule()

    def below_one(self, *names: str) -> Iterable[str]:
        """Yield one sentence for each of these fields that is not in [0, 1) as a float32."""
        for name in names:
            value = getattr(self, name)
            if not 0 <= value <= 1 or struct.unpack("f", struct.pack("f", value))[0] == 1:
                yield f"{name}: must be in [0, 1), got {value}"

    def at_most(self, **largest: float) -> Iterable[str]:
        """Yield one sentence for each of these fields that is above its largest value."""
        for name, most in largest.items():
            if getattr(self, name) > most:
                yield f"{name}: must be at most {most:,}, got {getattr(self, name)}"

    def _check_packing(self) -> Iterable[str]:
        length = self.packed_length
        if length < 0:
            yield f"packed_length: must not be negative, got {length}"
        if length <= 0:
            return
        of_model = next(c for c in type(self).__mro__ if "model" in vars(c) or c is TrainingHParams)
        if reason := vars(of_model).get("cannot_pack", TrainingHParams.cannot_pack):
            yield (
                f"packed_length={length}: {reason}; use packed_length=0, with which pairs of "
                "similar length share a batch"
            )
        if length < self.max_length:
            yield (
                f"packed_length={length}: a pair of max_length={self.max_length} tokens does not "
                f"fit in a row; raise packed_length, or use max_length={length}"
            )
        if self.batch_size < length:
            yield f"batch_size={self.batch_size} tokens cannot hold a row of packed_length={length}"

    def _check_optimizer(self) -> Iterable[str]:
        known = (*OPTIMIZERS, *registry.optimizers)
        if self.optimizer not in known:
            yield (
                f"optimizer: unknown optimizer {self.optimizer!r}; known: {', '.join(known)}"
                f"{nearest(self.optimizer, known)}"
            )
        elif self.optimizer_momentum and "optimizer_momentum" not in fields_of(self.optimizer):
            yield f"optimizer_momentum={self.optimizer_momentum}: {self.optimizer} does not read it"
        names = []
        for text in self.optimizer_options:
            try:
                names.append(parse_option(text)[0])
            except HParamsError as error:
                yield str(error)
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"optimizer_options: {name} is given twice"

    def _check_schedule(self) -> Iterable[str]:
        factors = [factor.strip() for factor in self.learning_rate_schedule.split("*")]
        known = (*SCHEDULE_FACTORS, *registry.schedule_factors)
        for factor in factors:
            if factor not in known:
                yield (
                    f"learning_rate_schedule: unknown factor {factor!r}; known: "
                    f"{', '.join(known)}{nearest(factor, known)}"
                )
        for name in ("learning_rate_halving_start", "learning_rate_halving_steps"):
            value = getattr(self, name)
            if "halving" in factors and value <= 0:
                yield f"{name}: must be positive with the factor halving, got {value}"
            elif "halving" not in factors and value:
                yield (
                    f"{name}={value}: learning_rate_schedule={self.learning_rate_schedule} lacks "
                    "the factor halving, the only one that reads it"
                )


def registered_hparams(name: str) -> TrainingHParams:
    """Return a registered hparams set.

    Raises:
        UserError: the set is unknown, or its function returns something else.
    """
    found = registry.hparams[name]()
    if not isinstance(found, TrainingHParams):
        raise UserError(
            f"hparams set {name}: its function returns {shown(found)}; it must return "
            "hyperparameters, such as TransformerHParams()"
        )
    return found


def _merged(options: Iterable[str], changes: Iterable[str]) -> tuple[str, ...]:
    """Return options of an optimizer, in which changes take the place of those they name."""
    named = {text.partition("=")[0].strip(): text for text in (*options, *changes)}
    return tuple(named.values())


def fields_of(optimizer: str) -> tuple[str, ...]:
    """Return the fields that an optimizer reads.

    For a registered class, these are the fields whose arguments its constructor takes by name.

    Args:
        optimizer: a name in `OPTIMIZERS` or `registry.optimizers`.
    """
    if optimizer in OPTIMIZERS:
        return OPTIMIZERS[optimizer]
    parameters = inspect.signature(registry.optimizers[optimizer].__init__).parameters
    return tuple(field for field, name in OPTIMIZER_FIELDS.items() if name in parameters)


def not_a_multiple(effective: int, batch: int, *, replicas: int) -> str:
    """Return the fault of an `effective_batch_size` that is no multiple, with sizes that are."""
    together = batch * replicas
    below = max(effective, 0) // together * together
    fitting = [str(size) for size in (below, below + together) if size > 0]
    devices = f" on {replicas} replicas" if replicas > 1 else ""
    smaller = (
        f", or batch_size={effective // replicas}"
        if 0 < effective < together and effective % replicas == 0
        else ""
    )
    return (
        f"effective_batch_size={effective}: must be a multiple of batch_size={batch}{devices}, "
        f"such as {' or '.join(fitting)}{smaller}; 0: one update per batch"
    )


def parse_factor(text: str) -> tuple[str, float]:
    """Return the pattern and the number of a factor, such as "encoder_*=0.1".

    Raises:
        HParamsError: the text is not a pattern with a positive number.
    """
    pattern, _, value = (part.strip() for part in text.rpartition("="))
    try:
        factor = float(value)
    except ValueError:
        factor = 0.0
    if not pattern or not 0 < factor <= 1000:
        raise HParamsError(
            f"learning_rate_factors: expected PATTERN=FACTOR with a positive factor, got "
            f"{shown(text)}"
        )
    return pattern, factor


def parse_option(text: str) -> tuple[str, bool | int | float]:
    """Return the name and value of an option of an optimizer, such as "weight_decay=0.01".

    Raises:
        HParamsError: the text is not a name with a number, true or false.
    """
    name, _, value = (part.strip() for part in text.partition("="))
    converters: tuple[Any, ...] = ({"true": True, "false": False}.__getitem__, int, float)
    for convert in converters:
        try:
            converted = convert(value.lower())
            # An integer may be too large to be compared.
            finite = math.isfinite(converted)
        except (ValueError, KeyError, OverflowError):
            continue
        if name.isidentifier() and finite:
            return name, converted
    raise HParamsError(
        f"optimizer_options: expected name=value with a number, true or false, got {shown(text)}"
    )
