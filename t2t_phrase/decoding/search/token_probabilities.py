"""Notes on the probability of each token, for any way of continuing hypotheses.

Shapes: B sentences, K beams, C candidates.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion

# The note with the log-probability of a token.
LOG_PROB = "log_prob"


def noting_probabilities(expansion: Expansion) -> Expansion:
    """Return an expansion that notes what each token adds to the log-probability.

    Args:
        expansion: continues hypotheses.
    """

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        inner = {name: note for name, note in alive.notes.items() if name != LOG_PROB}
        found, cache = expansion.expand(alive._replace(notes=inner), index, cache)
        before = ops.take_along_axis(alive.log_probs, found.parents, axis=1)  # (B, C)
        # The difference of two hypotheses that do not exist is NaN.
        exists = ops.isfinite(found.log_probs)
        added = ops.where(exists, found.log_probs - ops.where(exists, before, 0.0), 0.0)
        return found._replace(notes={**found.notes, LOG_PROB: added}), cache

    return expansion._replace(expand=expand, notes={**expansion.notes, LOG_PROB: 0.0})
