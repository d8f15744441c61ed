"""One output a sentence, token by token: the likeliest, or drawn at random."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.decoding.search.beam_search import EOS_ID, WORST, Hypotheses, Step
from t2t_phrase.ops.blocks import write_block

# More than the tokens of any output.
SEED_STRIDE = 1 << 16


def sample(
    step: Step,
    cache: Any,
    *,
    max_lengths: Any,
    length: Any,
    temperature: float = 0.0,
    keep_top_k: int = 0,
    min_length: int = 0,
    seed: Any = None,
) -> Hypotheses:
    """Continue every sentence until EOS or its longest length.

    Args:
        step: maps (ids (B, 1) int32, time, cache) to (logits (B, 1, V), cache).
        cache: whatever `step` needs to know of the past.
        max_lengths: (B,) int32, longest output of each sentence with EOS, each at most L.
        length: L, a number or an int32 scalar.
        temperature: divides the logits; 0 takes the likeliest token, as greedy search does.
        keep_top_k: draw from the k likeliest tokens only; 0 = from all.
        min_length: fewest tokens before EOS.
        seed: (2,) int, read only when tokens are drawn. It fixes them for one way of compiling:
            XLA draws by other random numbers than TensorFlow's plain graphs.

    Returns:
        `Hypotheses` with K = 1; the score is the plain log-probability of the tokens.
    """
    batch_size = ops.shape(max_lengths)[0]
    if temperature:
        seed = ops.cast(seed, "uint32")

    def unfinished(index: Any, state: dict[str, Any], cache: Any) -> Any:
        del cache
        return ops.logical_and(index < length, ops.logical_not(ops.all(state["done"])))

    def advance(index: Any, state: dict[str, Any], cache: Any) -> tuple[Any, Any, Any]:
        logits, cache = step(state["last"], index, cache)
        logits = ops.cast(logits[:, 0], "float32")  # (B, V)
        if min_length:
            early = ops.logical_and(ops.arange(logits.shape[-1]) == EOS_ID, index < min_length)
            logits = ops.where(early, WORST, logits)
        token = _choose(logits, index, temperature, keep_top_k, seed)  # (B,)
        log_prob = ops.take_along_axis(logits, token[:, None], axis=1)[:, 0]
        log_prob -= ops.logsumexp(logits, axis=-1)
        token = ops.where(state["done"], 0, token)
        done = ops.logical_or(ops.equal(token, EOS_ID), index + 1 >= max_lengths)
        return (
            index + 1,
            {
                "last": token[:, None],
                "ids": write_block(state["ids"], token[:, None], index, axis=1),
                "score": state["score"] + ops.where(state["done"], 0.0, log_prob),
                "done": ops.logical_or(state["done"], done),
            },
            cache,
        )

    state = {
        "last": ops.zeros((batch_size, 1), "int32"),
        "ids": ops.zeros((batch_size, length), "int32"),
        "score": ops.zeros((batch_size,), "float32"),
        "done": max_lengths <= 0,
    }
    _, state, _ = ops.while_loop(unfinished, advance, (ops.convert_to_tensor(0), state, cache))
    return Hypotheses(ids=state["ids"][:, None], scores=state["score"][:, None])


def _choose(logits: Any, index: Any, temperature: float, keep_top_k: int, seed: Any) -> Any:
    if not temperature:
        return ops.cast(ops.argmax(logits, axis=-1), "int32")
    if keep_top_k:
        least = ops.top_k(logits, min(keep_top_k, logits.shape[-1]))[0][:, -1:]
        logits = ops.where(logits < least, WORST, logits)
    # Far apart, so that one seed's draws are not the next one's a token later.
    now = ops.stack([seed[0], seed[1] * SEED_STRIDE + ops.cast(index, seed.dtype)])
    drawn = keras.random.categorical(logits / temperature, 1, seed=_Seed(now))
    return ops.cast(drawn[:, 0], "int32")


class _Seed(keras.random.SeedGenerator):
    """A tensor as a seed, in the only form in which every backend takes one.

    A generator proper would be a variable, which a traced function may not create.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def next(self, ordered: bool = True) -> Any:
        """Return the tensor."""
        del ordered
        return self.value
