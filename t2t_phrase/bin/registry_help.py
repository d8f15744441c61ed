"""The lists of --registry_help.

The lists are read from `registered.json`, so that nothing is imported. After changes to problems,
models or hparams sets, run `python -m t2t_phrase.bin.registry_help`.
"""

from __future__ import annotations

import inspect
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from t2t_phrase import registry
from t2t_phrase.config import UserError, nearest
from t2t_phrase.corpus_sizes import SIZES, vocabulary_size

_FILE = pathlib.Path(__file__).with_name("registered.json")
PROBLEMS, MODELS, SETS = "Problems (append _rev to reverse)", "Models", "Hparams sets"


class Entry(NamedTuple):
    """A registered name.

    Attributes:
        name: the name.
        summary: the first line of its description.
        about: for an hparams set, its parameters and the corpus size that it is meant for.
    """

    name: str
    summary: str
    about: str = ""


def registered(word: str, *, t2t_usr_dir: str = "", titles: tuple[str, ...] = ()) -> list[str]:
    """Return the lines of --registry_help.

    Args:
        word: a word that the entries must contain; empty or "all": any entry.
        t2t_usr_dir: folder with the user's registrations; if given, everything is imported.
        titles: titles of the lists to include; empty: all.

    Raises:
        UserError: no entry contains the word.
    """
    word = "" if word == "all" else word
    lists = kept()
    if t2t_usr_dir:
        lists = imported(t2t_usr_dir, known=lists)
    lines = []
    for title, entries in lists.items():
        found = [e for e in entries if word.lower() in f"{e.name} {e.summary}".lower()]
        if not found or (titles and title not in titles):
            continue
        width, about = (max(len(entry[i]) for entry in found) for i in (0, 2))
        lines.append(f"{title}:")
        for entry in found:
            middle = f"{entry.about:<{about}}  " if about else ""
            lines.append(f"  {entry.name:<{width}}  {middle}{entry.summary}".rstrip())
    if not lines:
        every = [entry.name for entries in lists.values() for entry in entries]
        raise UserError(
            f"--registry_help={word}: no name or description contains it{nearest(word, every)}"
        )
    return lines


def kept() -> dict[str, list[Entry]]:
    """Return the library's own registrations, from `registered.json`."""
    lists = json.loads(_FILE.read_text("utf-8"))
    return {title: [Entry(*entry) for entry in entries] for title, entries in lists.items()}


def imported(
    t2t_usr_dir: str = "", *, known: Mapping[str, Sequence[Entry]] | None = None
) -> dict[str, list[Entry]]:
    """Return all registrations by importing them.

    Args:
        t2t_usr_dir: folder with the user's registrations.
        known: entries that are reused, since counting parameters takes time.
    """
    registry.discover(t2t_usr_dir)
    found: dict[str, list[Entry]] = {}
    registries: dict[str, Any] = {
        PROBLEMS: registry.problems,
        MODELS: registry.models,
        SETS: registry.hparams,
    }
    for title, names in registries.items():
        old = {entry.name: entry for entry in (known or {}).get(title, ())}
        found[title] = [
            old.get(name)
            or Entry(name, _summary(names[name]), _about(name) if title == SETS else "")
            for name in names
        ]
    return found


def _about(name: str) -> str:
    """Return the parameters of an hparams set and the corpus size that it is meant for."""
    from t2t_phrase.models.parameter_count import count_parameters
    from t2t_phrase.training_hparams import registered_hparams

    size, vocabulary = _corpus(name)
    millions = count_parameters(registered_hparams(name), vocab_size=vocabulary) / 1e6
    return f"{millions:5.1f}M, {vocabulary:,} subwords{size}"


def _corpus(name: str) -> tuple[str, int]:
    """Return the corpus size that a set is meant for, as text, and a vocabulary size for it."""
    for size in SIZES:
        if name.endswith(f"_{size.name}"):
            return f", {size.name} pairs", vocabulary_size(int(min(size.most_pairs, 10**6)))
    if "_multi30k" in name:
        return ", 30k pairs", 10_000
    if "_demo" in name:
        return ", 10k pairs", 4_000
    return "", 37_000


def _summary(entry: Any) -> str:
    return next(iter(inspect.cleandoc(entry.__doc__ or "").splitlines()), "")


def write() -> None:
    """Write `registered.json`."""
    lines = json.dumps(imported(), indent=0, ensure_ascii=False)
    _FILE.write_text(f"{lines}\n", encoding="utf-8")
    print(f"written to {_FILE}")


if __name__ == "__main__":
    write()
