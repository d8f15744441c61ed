"""Precision, recall and alignment error rate against gold links (Och and Ney, 2003)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.io.line_counts import check_one_to_one, counted
from t2t_phrase.io.text_files import read_text
from t2t_phrase.text.alignments.pharaoh import Link, Links, read_links


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlignmentError:
    """Counts of the links of a corpus, and the scores computed from them.

    Attributes:
        sentences: sentence pairs.
        links: links of the alignment that is scored.
        sure: sure links of the gold alignment.
        possible: other links of the gold alignment.
        found_sure: links of the alignment that are among the sure ones.
        found: links of the alignment that are among the sure or the possible ones.
        one_left: wrong links whose source word is one to the left of a correct one.
        one_right: wrong links whose source word is one to the right of a correct one.
    """

    sentences: int
    links: int
    sure: int
    possible: int
    found_sure: int
    found: int
    one_left: int
    one_right: int

    @property
    def precision(self) -> float:
        """Share of the links that are in the gold alignment; 1 if there are none."""
        return self.found / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        """Share of the sure links that are found; 1 if there are none."""
        return self.found_sure / self.sure if self.sure else 1.0

    @property
    def error_rate(self) -> float:
        """$1 - (found_sure + found) / (links + sure)$; 0 if there are none."""
        total = self.links + self.sure
        return 1 - (self.found_sure + self.found) / total if total else 0.0

    def __str__(self) -> str:
        """Return the scores in percent, and what they were computed from."""
        return (
            f"AER = {100 * self.error_rate:.2f} (precision = {100 * self.precision:.2f}, "
            f"recall = {100 * self.recall:.2f}; {counted(self.links, 'link')}, {self.sure} sure "
            f"and {self.possible} possible ones in {counted(self.sentences, 'sentence')})"
        )


def alignment_error(links: Sequence[Collection[Link]], gold: Sequence[Links]) -> AlignmentError:
    """Compare the links of each sentence pair with the gold ones.

    Args:
        links: links to score, for each sentence pair.
        gold: gold links, for each sentence pair.

    Example:
        ```python
        from t2t_phrase.evaluation.alignment_error import alignment_error
        from t2t_phrase.text.alignments.pharaoh import read_links

        gold = [read_links("0-0 1-1 2?1")]
        error = alignment_error([{(0, 0), (2, 1), (3, 3)}], gold)
        rate = error.error_rate  # 0.4
        ```
    """
    pairs = [(set(own), right) for own, right in zip(links, gold, strict=True)]
    return AlignmentError(
        sentences=len(pairs),
        links=sum(len(own) for own, _ in pairs),
        sure=sum(len(right.sure) for _, right in pairs),
        possible=sum(len(right.possible) for _, right in pairs),
        found_sure=sum(len(own & right.sure) for own, right in pairs),
        found=sum(len(own & right.all) for own, right in pairs),
        one_left=sum(_beside(own, right.all, 1) for own, right in pairs),
        one_right=sum(_beside(own, right.all, -1) for own, right in pairs),
    )


def _beside(own: Collection[Link], right: Collection[Link], step: int) -> int:
    """Count the wrong links that would be right with their source word moved by `step`."""
    wrong = [link for link in own if link not in right]
    return sum((source + step, target) in right for source, target in wrong)


def score_files(alignments: str, gold: str) -> AlignmentError:
    """Compare two files in Pharaoh format.

    Marks of possible links matter only in the gold file.

    Args:
        alignments: file with the alignments to score.
        gold: file with the gold alignments.

    Raises:
        UserError: a file cannot be read, a line is malformed or has the alignments of several
            hypotheses, the numbers of lines differ, or there are no lines.
    """
    own, right = _read(alignments), _read(gold)
    check_one_to_one(str(alignments), len(own), str(gold), len(right))
    if not own:
        raise UserError(f"{alignments} and {gold} are empty: there are no sentences to score")
    return alignment_error([links.all for links in own], right)


def _read(path: str) -> list[Links]:
    found = []
    for number, line in enumerate(read_text(path), start=1):
        try:
            found.append(read_links(line))
        except UserError as error:
            raise UserError(f"{path}:{number}: {error}") from error
    return found
