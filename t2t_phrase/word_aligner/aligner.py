"""Aligns the words of parallel sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from t2t_phrase.word_aligner import hmm, ibm1, jumps, lexicon
from t2t_phrase.word_aligner.cells import Ids, make_cells
from t2t_phrase.word_aligner.progress import Log, Progress
from t2t_phrase.word_aligner.symmetrization import SYMMETRIZATIONS, Link
from t2t_phrase.word_aligner.words import numbered

# Maximum number of words on each side of a pair that is aligned.
LONGEST = 200
# Costs of the other steps, relative to an iteration of model 1.
_READ_COST, _HMM_COST, _SEARCH_COST = 10.0, 3.5, 7.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlignerOptions:
    """The options of the aligner.

    Attributes:
        iterations: number of EM iterations, for each of the two models and directions.
        symmetrization: a name of `SYMMETRIZATIONS`.
        lowercase: whether case is ignored.
    """

    iterations: int = 5
    symmetrization: str = "grow-diag-final-and"
    lowercase: bool = True


def can_align(source: Sequence[str], target: Sequence[str]) -> bool:
    """Return whether a pair has words on both sides, at most `LONGEST` on each."""
    return 0 < len(source) <= LONGEST and 0 < len(target) <= LONGEST


def align(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    options: AlignerOptions,
    *,
    log: Log = print,
) -> list[set[Link]]:
    """Return the links of each sentence pair; none for a pair that `can_align` excludes.

    Two models are trained on all pairs, in both directions: IBM model 1 and then, starting from its
    lexicon, a hidden Markov model, whose best alignments are symmetrised. Nothing is random.

    Args:
        sources: the words of each source.
        targets: the words of each target.
        options: the options of the aligner.
        log: called with a line for each step.
    """
    pairs = [n for n, pair in enumerate(zip(sources, targets, strict=True)) if can_align(*pair)]
    source, target = (
        numbered([side[n] for n in pairs], lowercase=options.lowercase)
        for side in (sources, targets)
    )
    found: list[set[Link]] = [set() for _ in sources]
    if not pairs:
        return found
    chosen, forward, backward = options.symmetrization, _none(pairs), _none(pairs)
    cost = _READ_COST + options.iterations * (1 + _HMM_COST) + _SEARCH_COST
    progress = Progress(cost if chosen in ("forward", "backward") else 2 * cost, log)
    if chosen != "backward":
        forward = _align_directed(source, target, options.iterations, "forward", progress)
    if chosen != "forward":
        turned = _align_directed(target, source, options.iterations, "backward", progress)
        backward = [[(i, j) for j, i in links] for links in turned]
    for number, ahead, back in zip(pairs, forward, backward, strict=True):
        found[number] = SYMMETRIZATIONS[chosen](ahead, back)
    return found


def _none(pairs: Sequence[int]) -> list[list[Link]]:
    return [[] for _ in pairs]


def _align_directed(
    sources: Sequence[Ids], targets: Sequence[Ids], iterations: int, name: str, progress: Progress
) -> list[list[Link]]:
    """Return the links of each pair, at most one for each target word.

    Args:
        sources: words as numbers from 0; not empty.
        targets: likewise.
        iterations: number of EM iterations, for each model.
        name: of the direction, for messages.
        progress: reports each step.
    """
    cells = make_cells(sources, targets)
    progress.step(f"{name}: {len(cells.given):,} pairs of words occur together", _READ_COST)
    table, weights = lexicon.uniform(cells), jumps.uniform(max(map(len, sources)))
    for number in range(1, iterations + 1):
        table, likelihood = ibm1.iteration(cells, table)
        title = f"{name}: IBM model 1, iteration {number} of {iterations}"
        progress.step(title, 1, likelihood / cells.target_words)
    for number in range(1, iterations + 1):
        table, weights, likelihood = hmm.iteration(cells, table, weights)
        title = f"{name}: HMM, iteration {number} of {iterations}"
        progress.step(title, _HMM_COST, likelihood / cells.target_words)
    found: list[list[Link]] = [[] for _ in sources]
    for numbers, paths in hmm.viterbi(cells, table, weights):
        for pair, path in zip(numbers.tolist(), paths.tolist(), strict=True):
            found[pair] = [(i - 1, j) for j, i in enumerate(path) if i]
    progress.step(f"{name}: best alignments", _SEARCH_COST)
    return found
