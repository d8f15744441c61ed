"""Contrastive evaluation: does a model prefer the reference to a copy of it with one error?

The pairs come from LingEval97 (Sennrich, 2017) or from the built-in grammar. Distances are defined
as in LingEval97: the distance in words between the two words that must agree, 1 for adjacent words
and 0 within one word.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from t2t_phrase import grammar
from t2t_phrase.config import UserError, shown
from t2t_phrase.evaluation.aligned import aligned
from t2t_phrase.io.strict_json import parse_json
from t2t_phrase.io.text_files import read_text

if TYPE_CHECKING:
    from t2t_phrase.features import Feature

# Larger distances are grouped, as in LingEval97.
FAR = 15


@dataclasses.dataclass(frozen=True)
class ContrastivePair:
    """A reference and a corrupted copy of it.

    Attributes:
        sentence: index of the source sentence, from 0.
        source: the source sentence.
        reference: its translation.
        contrastive: the same with one error.
        kind: the kind of error.
        distance: see above; None if the error does not concern the agreement of two words.
    """

    sentence: int
    source: str
    reference: str
    contrastive: str
    kind: str
    distance: int | None


@dataclasses.dataclass(frozen=True)
class ContrastiveSet:
    """Contrastive pairs and their source sentences.

    Attributes:
        pairs: at least one.
        sources: all source sentences, including those without pairs.
        trees: their constituency trees in Penn Treebank brackets; None if unknown.
    """

    pairs: list[ContrastivePair]
    sources: list[str]
    trees: list[str] | None = None


@dataclasses.dataclass(frozen=True)
class Share:
    """The share of correct decisions.

    Attributes:
        right: number of pairs whose reference was more probable.
        total: number of pairs.
    """

    right: int
    total: int

    @property
    def percent(self) -> float:
        """Accuracy in per cent."""
        return 100 * self.right / self.total


@dataclasses.dataclass(frozen=True)
class Accuracies:
    """Accuracy over all pairs, by kind, and by kind and distance.

    Attributes:
        overall: over all pairs.
        kinds: by kind, in alphabetical order.
        distances: by kind and distance ("1" to "15" and ">15"; "0" within a word).
    """

    overall: Share
    kinds: dict[str, Share]
    distances: dict[str, dict[str, Share]]


def grammar_pairs(sentences: int) -> ContrastiveSet:
    """Return contrastive pairs for the first test sentences of the grammar."""
    found = list(grammar.generate("test", sentences))
    pairs = [
        ContrastivePair(
            number, pair.source, pair.target, twin.target, twin.kind, _distance(pair, twin)
        )
        for number, pair in enumerate(found)
        for twin in grammar.wrong_twins(pair)
    ]
    sources, trees = [pair.source for pair in found], [pair.tree for pair in found]
    return ContrastiveSet(pairs, sources, trees)


def check_languages(source: str, target: str) -> None:
    """Check that a model can read the grammar's pairs, which are English and German.

    Args:
        source: language that the model translates from; "en", or a name that tells nothing.
        target: language that it translates into; "de", likewise.

    Raises:
        UserError: the model translates from German or into English.
    """
    if source == "de" or target == "en":
        raise UserError(
            "the grammar's contrastive pairs are translations from English into German, but the "
            f"model translates {source} to {target}; give a file of contrastive translations"
        )


def check_features(features: Sequence[Feature]) -> None:
    """Check that contrastive translations have all features that a model reads.

    Raises:
        UserError: the model reads a feature of the target.
    """
    for feature in features:
        if feature.side == "target":
            raise UserError(
                f"the model reads the target feature {feature.name!r}, which contrastive "
                "translations do not have"
            )


def _distance(pair: grammar.SentencePair, twin: grammar.Twin) -> int:
    note = pair.derivation[twin.position].note
    # The particle is part of the same word as its verb.
    if note is not None and note[0] == "joined":
        return 0
    return twin.distance + 1


def read_lingeval(path: str) -> ContrastiveSet:
    """Read LingEval97's JSON, a list of entries such as this one:

    ```json
    {"source": "...", "reference": "...", "origin": "newstest2009.1", "errors": [
        {"type": "np_agreement", "contrastive": "...", "distance": 2, "frequency": 2020}]}
    ```

    `origin` and `frequency` are ignored; `distance` is optional.

    Raises:
        UserError: the file cannot be read, does not have this form (the message names the entry by
            its number, from 1), or contains no errors.
    """
    entries = parse_json("\n".join(read_text(path)), path)
    if not isinstance(entries, list):
        raise UserError(f"{path}: expected a list of entries as in lingeval97.json")
    pairs = [
        pair
        for number, entry in enumerate(entries)
        for pair in _read_entry(entry, number, f"{path}: entry {number + 1}")
    ]
    if not pairs:
        raise UserError(f"{path} contains no contrastive translations")
    return ContrastiveSet(pairs, [entry["source"] for entry in entries])


def _read_entry(entry: Any, number: int, name: str) -> list[ContrastivePair]:
    source, reference = (_field(entry, key, str, name) for key in ("source", "reference"))
    pairs = []
    for at, error in enumerate(_field(entry, "errors", list, name), start=1):
        where = f"{name}, error {at}"
        contrastive, kind = (_field(error, key, str, where) for key in ("contrastive", "type"))
        distance = _distance_of(error, where)
        pairs.append(ContrastivePair(number, source, reference, contrastive, kind, distance))
    return pairs


def _field(entry: Any, key: str, wanted: type, where: str) -> Any:
    if not isinstance(entry, dict) or not isinstance(entry.get(key), wanted):
        noun = "a string" if wanted is str else "a list"
        raise UserError(f"{where}: expected {noun} for {key!r}")
    return entry[key]


def _distance_of(error: Mapping[str, Any], where: str) -> int | None:
    distance = error.get("distance")
    if distance is None:
        return None
    if isinstance(distance, str) and re.fullmatch("[0-9]{1,9}", distance):
        return int(distance)
    if not isinstance(distance, int) or isinstance(distance, bool) or distance < 0:
        raise UserError(f"{where}: distance {shown(distance)} is not a number of words")
    return distance


def to_score(pairs: Sequence[ContrastivePair]) -> list[tuple[int, str, str]]:
    """Return the distinct (sentence, source, target) that a model must score."""
    scored: dict[tuple[int, str, str], None] = {}
    for pair in pairs:
        scored[pair.sentence, pair.source, pair.reference] = None
        scored[pair.sentence, pair.source, pair.contrastive] = None
    return list(scored)


def accuracies(
    pairs: Sequence[ContrastivePair], scores: Mapping[tuple[int, str, str], float]
) -> Accuracies:
    """Count the pairs whose reference has the higher score; ties count as wrong.

    Args:
        pairs: at least one.
        scores: log-probabilities of the items returned by `to_score`.
    """
    right = [
        scores[pair.sentence, pair.source, pair.reference]
        > scores[pair.sentence, pair.source, pair.contrastive]
        for pair in pairs
    ]
    groups: dict[tuple[str, ...], list[bool]] = {}
    for pair, good in sorted(
        zip(pairs, right, strict=True), key=lambda item: (item[0].kind, item[0].distance or 0)
    ):
        groups.setdefault((pair.kind,), []).append(good)
        if pair.distance is not None:
            groups.setdefault((pair.kind, bucket(pair.distance)), []).append(good)
    shares = {names: Share(sum(group), len(group)) for names, group in groups.items()}
    kinds = {names[0]: share for names, share in shares.items() if len(names) == 1}
    distances: dict[str, dict[str, Share]] = {}
    for names, share in shares.items():
        if len(names) == 2:
            distances.setdefault(names[0], {})[names[1]] = share
    return Accuracies(Share(sum(right), len(right)), kinds, distances)


def bucket(distance: int) -> str:
    """Return the name of the group that a distance belongs to."""
    return str(distance) if distance <= FAR else f">{FAR}"


def as_text(found: Accuracies) -> str:
    """Return tables: accuracy by kind, then by distance with the number of pairs in brackets."""
    rows = [["kind", "right", "pairs", "accuracy"]]
    for name, share in {**found.kinds, "all": found.overall}.items():
        rows.append([name, str(share.right), str(share.total), f"{share.percent:.2f}%"])
    text = aligned(rows)
    if found.distances:
        names = [*map(str, range(FAR + 1)), f">{FAR}"]
        rows = [["distance", *found.distances]]
        for name in names:
            cells = [shares.get(name) for shares in found.distances.values()]
            if any(cells):
                rows.append([name, *(f"{s.percent:.2f}% ({s.total})" if s else "" for s in cells)])
        text += "\n\n" + aligned(rows)
    return text


def as_json(found: Accuracies) -> dict[str, Any]:
    """Return the accuracies as a JSON-serializable dictionary."""

    def share(value: Share) -> dict[str, float]:
        return {"right": value.right, "total": value.total, "accuracy": value.percent}

    return {
        "overall": share(found.overall),
        "kinds": {kind: share(value) for kind, value in found.kinds.items()},
        "distances": {
            kind: {name: share(value) for name, value in shares.items()}
            for kind, shares in found.distances.items()
        },
    }
