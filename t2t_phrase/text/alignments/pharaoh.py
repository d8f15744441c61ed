"""Word alignments in Pharaoh format: `0-0 1-2`, a line for each sentence pair."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from t2t_phrase.config import UserError, shown
from t2t_phrase.io.line_counts import counted

# The numbers of a source word and of a target word, from 0.
Link = tuple[int, int]

# Nine digits are enough to number the words of any sentence.
_LINK = re.compile(r"([0-9]{1,9})([-?p])([0-9]{1,9})([?p]?)")
_TOO_LARGE = re.compile(r"[0-9]+[-?p][0-9]+[?p]?")


class Links(NamedTuple):
    """The links of a sentence pair.

    Attributes:
        sure: unambiguous links; all links of a file that was not made by hand.
        possible: other acceptable links of gold files (Och and Ney, 2003); none of `sure`.
    """

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()

    @property
    def all(self) -> frozenset[Link]:
        """Sure and possible links."""
        return self.sure | self.possible


def read_links(line: str) -> Links:
    """Return the links of a line.

    Links are separated by spaces and may be repeated. A possible link is written `1?2`, `1p2`,
    `1-2?` or `1-2p`; a link that is also written as a sure one is sure.

    Args:
        line: such as "0-0 1-2 3?3"; empty if nothing is linked.

    Raises:
        UserError: a field is not a link, a number has more than nine digits, or there is a tab.
    """
    if "\t" in line.strip():
        raise UserError(
            "a tab, as between the alignments of several hypotheses (return_beams=true); keep one "
            "of them, and separate links by spaces"
        )
    sure: set[Link] = set()
    possible: set[Link] = set()
    for field in line.split():
        found = _LINK.fullmatch(field)
        if not found:
            if _TOO_LARGE.fullmatch(field):
                raise UserError(f"{shown(field)}: the number is too large for a word of a sentence")
            raise UserError(
                f"{shown(field)} is not a link; expected the numbers of a source word and a target "
                "word, from 0, such as 0-0 or, if it is only possible, 0?0"
            )
        link = (int(found[1]), int(found[3]))
        (sure if found[2] == "-" and not found[4] else possible).add(link)
    return Links(frozenset(sure), frozenset(possible - sure))


def write_links(links: Iterable[Link], possible: Iterable[Link] = ()) -> str:
    """Return a line with links in ascending order, without a line feed.

    Args:
        links: sure links.
        possible: other links, written as `1?2`.
    """
    marks = {**dict.fromkeys(possible, "?"), **dict.fromkeys(links, "-")}
    return " ".join(f"{i}{marks[i, j]}{j}" for i, j in sorted(marks))


def check_range(links: Iterable[Link], source_words: int | None, target_words: int) -> None:
    """Check that links are between words that exist.

    Args:
        links: the links of a sentence pair.
        source_words: number of words of the source; None: unknown.
        target_words: number of words of the target.

    Raises:
        UserError: a link refers to a word that does not exist.
    """
    for i, j in sorted(links):
        for number, words, side in ((i, source_words, "source"), (j, target_words, "target")):
            if words is not None and number >= words:
                has = counted(words, "word") if words else "no words"
                raise UserError(
                    f"link {i}-{j}: there is no {side} word {number}; words are separated by "
                    f"spaces and numbered from 0, and the {side} has {has}"
                )
