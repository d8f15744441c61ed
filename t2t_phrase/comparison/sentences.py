"""The sentences of t2t-phrase-compare: a set of the problem, or a larger one from the grammar."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Sequence

from t2t_phrase import grammar
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.grammar_problem import GrammarProblem


@dataclasses.dataclass(frozen=True)
class Sentences:
    """Sentences to translate.

    Attributes:
        source: file with the source sentences.
        references: one list of sentences for each reference.
        facts: idioms, compounds and particle verbs of each sentence; None if unknown.
        description: for the notes under a table.
    """

    source: pathlib.Path
    references: list[list[str]]
    facts: list[Sequence[grammar.Rendering]] | None
    description: str


# How tables name the sets that can be translated.
SPLITS = {"dev": "development set", "test": "test set"}


def sentences_of(
    problem: Problem,
    *,
    data_dir: pathlib.Path,
    work_dir: pathlib.Path,
    size: int,
    split: str = "test",
) -> Sentences:
    """Return the test or development set of the problem; for the grammar, of any size.

    Args:
        problem: a problem with generated data.
        data_dir: folder of the data.
        work_dir: folder to which the grammar's sentences are written.
        size: number of sentences from the grammar.
        split: "dev" or "test".

    Raises:
        UserError: the data do not exist, or are from another version of the grammar.
    """
    kept = problem.raw_text(str(data_dir), split)[0]
    if not isinstance(problem, GrammarProblem):
        return Sentences(
            data_dir / f"{problem.base_name}-{split}.{problem.source_language}",
            problem.raw_references(str(data_dir), split),
            None,
            f"{SPLITS[split]} of {len(kept)} sentences",
        )
    pairs = list(grammar.generate(split, size, seed=problem.seed))
    texts = {"en": [pair.source for pair in pairs], "de": [pair.target for pair in pairs]}
    sources, references = texts[problem.source_language], texts[problem.target_language]
    shared = min(len(kept), size)
    if sources[:shared] != kept[:shared]:
        raise UserError(
            f"the {SPLITS[split]} in {data_dir} is from another version of the grammar; "
            f"regenerate the data with t2t-phrase-datagen --problem={problem.base_name}"
        )
    # The same side files as datagen writes for the problem's own set.
    texts["trees"] = [pair.tree for pair in pairs]
    texts["facts"] = [
        json.dumps(dataclasses.asdict(pair.facts), ensure_ascii=False) for pair in pairs
    ]
    for ending, lines in texts.items():
        path = work_dir / f"{split}-{size}.{ending}"
        content = "".join(f"{line}\n" for line in lines)
        # An unchanged file keeps its time stamp, so that files made from it remain valid.
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")
    return Sentences(
        work_dir / f"{split}-{size}.{problem.source_language}",
        [references],
        None if problem.reversed else [pair.facts.renderings for pair in pairs],
        f"first {size} sentences of the {split} split, never used in training",
    )
