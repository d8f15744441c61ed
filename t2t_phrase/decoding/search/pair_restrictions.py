"""Restrictions of a search whose candidates continue pairs of a hypothesis and a position.

Shapes: B sentences, K beams, V vocabulary size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.best_pairs import Best, Evaluated, Required
from t2t_phrase.decoding.search.constrained import (
    Allowed,
    Constraints,
    TermTokens,
    banks_of,
    number_of_banks,
    term_tokens,
    without_early_end,
)
from t2t_phrase.decoding.search.required_terms import TERM, Progress, advance, start_progress
from t2t_phrase.decoding.search.restrictions import constraints_of, restricted_decoder
from t2t_phrase.decoding.search.token_masks import looked_up
from t2t_phrase.models.base import Step
from t2t_phrase.ops.rows import take_rows


class Restrictions:
    """Prefixes, required terms and forbidden phrases of a batch, if there are any.

    They depend on hypotheses and not on positions. In each step, `advance` computes the
    restrictions of each hypothesis, and `evaluated` applies them to pairs.

    Args:
        features: of the batch.
        beam_size: K.

    Attributes:
        start: the state before the first token.
        pads: of the notes, see `Expansion.notes`.
    """

    def __init__(self, features: Mapping[str, Any], beam_size: int) -> None:
        # Only the states of this decoder matter; the logits are those of pairs.
        silent = BatchDecoder(
            lambda ids, index, cache: Step(None, cache, {}), {}, lambda cache, parents: cache
        )
        self._beam_size = beam_size
        self._decoder = restricted_decoder(silent, features, beam_size)
        self._constraints = constraints_of(features)
        self.start: dict[str, Any] = {"decoder": self._decoder.cache}
        self.pads: dict[str, Any] = {}
        if self._constraints is not None:
            progress = start_progress(self._constraints.terms, beam_size)
            self.start["progress"] = tuple(progress)
            self.pads[TERM] = 0

    @property
    def spare(self) -> int:
        """The number of further candidates that must be kept from each round of pairs."""
        return 0 if self._constraints is None else self._beam_size // 2

    def chosen(self, best: Best) -> Best:
        """Return the K best that do not end, ordered by their scores."""
        if self._constraints is None:
            return best
        return best.chosen(number_of_banks(self._constraints.terms))

    def advance(
        self, tokens: Any, index: Any, state: dict[str, Any], vocab_size: int
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the next state, and the restrictions of hypotheses, each (B, ...), by name.

        Args:
            tokens: (B, K) int32, the last token of each.
            index: the time.
            state: before that token.
            vocab_size: V.
        """
        cache = self._decoder.step(tokens, index, state["decoder"]).cache
        allowed = Allowed(
            self._decoder.forced_tokens(cache),
            self._decoder.barred_tokens(cache, vocab_size),
            self._decoder.is_busy(cache),
        )
        after: dict[str, Any] = {"decoder": cache}
        held: dict[str, Any] = {}
        if self._constraints is not None:
            now = self._constraints.at(index)
            progress = advance(
                now.terms,
                Progress(*state["progress"]),
                tokens,
                looked_up(now.begins_word, tokens),
            )
            allowed = without_early_end(allowed, now.terms, progress, vocab_size)
            own = term_tokens(now.terms, progress, allowed, now.limits)
            after["progress"] = tuple(progress)
            held = {
                "terms": now.terms,
                "room": now.limits,
                "progress": tuple(progress),
                "own_tokens": own.tokens,
                "own_possible": own.possible,
            }
        held |= {name: value for name, value in allowed._asdict().items() if value is not None}
        return after, held

    def reorder(self, state: dict[str, Any], parents: Any) -> dict[str, Any]:
        """Return the state of the hypotheses that continue `parents` (B, K)."""
        after = {"decoder": self._decoder.reorder(state["decoder"], parents)}
        if self._constraints is not None:
            after["progress"] = tuple(Progress(*state["progress"]).of(parents))
        return after

    def evaluated(
        self, logits: Any, forced: Any | None, held: dict[str, Any], parents: Any
    ) -> Evaluated:
        """Return the candidates that may follow pairs.

        Args:
            logits: (B, K, V) float32, of the pairs.
            forced: (B, K) int32, the tokens that a dictionary forces; None: none.
            held: from `advance`.
            parents: (B, K) int32, the hypotheses of the pairs.
        """
        if "forced" in held:
            given = take_rows(held["forced"], parents)
            forced = given if forced is None else ops.where(given >= 0, given, forced)
        barred = take_rows(held["barred"], parents) if "barred" in held else None
        if self._constraints is None:
            return Evaluated(logits, forced, barred)
        own = TermTokens(
            take_rows(held["own_tokens"], parents), take_rows(held["own_possible"], parents)
        )

        def banks(tokens: Any) -> Any:
            shape = ops.shape(tokens)
            owners = ops.repeat(parents, shape[-1], axis=1)
            flat = ops.reshape(tokens, (-1, shape[1] * shape[2]))
            return ops.reshape(self._banks(held, owners, flat)[0], shape)

        required = Required(own.tokens, own.of(logits), banks, number_of_banks(held["terms"]))
        return Evaluated(logits, forced, barred, required)

    def notes(self, held: dict[str, Any], parents: Any, tokens: Any) -> dict[str, Any]:
        """Return the notes of candidates, (B, M) by name.

        Args:
            held: from `advance`.
            parents: (B, M) int32, the hypotheses that they continue.
            tokens: (B, M) int32.
        """
        if self._constraints is None:
            return {}
        return {TERM: self._banks(held, parents, tokens)[1]}

    def _banks(self, held: dict[str, Any], parents: Any, tokens: Any) -> tuple[Any, Any]:
        assert self._constraints is not None, "checked by the callers"
        now = Constraints(held["terms"], self._constraints.begins_word, held["room"])
        return banks_of(now, Progress(*held["progress"]), held.get("busy"), parents, tokens)
