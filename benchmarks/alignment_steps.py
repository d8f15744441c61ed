"""Shared code of the experiments with alignments: systems, texts, reports of commands."""

from __future__ import annotations

import dataclasses
import pathlib
import re

from t2t_phrase.config import UserError


@dataclasses.dataclass(frozen=True)
class System:
    """Trained models that translate together.

    Attributes:
        model: folder of the run that predicts words.
        alignment: folder of the alignment model's run; None: the model translates alone.
        others: folders of the further members of an ensemble.
    """

    model: pathlib.Path
    alignment: pathlib.Path | None = None
    others: tuple[pathlib.Path, ...] = ()

    @classmethod
    def parse(cls, text: str) -> System:
        """Return the system of `RUN`, `RUN+ALIGNMENT_RUN` or `RUN:RUN:...` (an ensemble).

        Raises:
            UserError: a part is missing, or is not the folder of a run.
        """
        from t2t_phrase.runs.record import RunRecord

        together, plus, alignment = text.partition("+")
        parts = [*together.split(":"), *([alignment] if plus else [])]
        if not all(parts) or "+" in alignment or (plus and len(parts) > 2):
            raise UserError(f"{text!r}: a system is RUN, RUN+ALIGNMENT_RUN or RUN:RUN:...")
        folders = [pathlib.Path(part).expanduser() for part in parts]
        for folder in folders:
            RunRecord.load(folder)
        if plus:
            return cls(*folders)
        return cls(folders[0], others=tuple(folders[1:]))

    @property
    def models(self) -> tuple[pathlib.Path, ...]:
        """Folders of all runs that predict words."""
        return (self.model, *self.others)

    @property
    def name(self) -> str:
        """A name for tables and files."""
        return ":".join(folder.name for folder in self.models)

    @property
    def flags(self) -> list[str]:
        """The flags of t2t-phrase-decoder that name the models."""
        flags = [f"--output_dir={','.join(map(str, self.models))}"]
        return flags if self.alignment is None else [*flags, self.alignment_flag]

    @property
    def alignment_flag(self) -> str:
        """The flag that names the alignment model."""
        return f"--alignment_model_dir={self.alignment}"

    @property
    def inputs(self) -> list[pathlib.Path]:
        """The folders that results depend on."""
        return [*self.models] if self.alignment is None else [*self.models, self.alignment]


@dataclasses.dataclass(frozen=True)
class Text:
    """A parallel text that t2t-phrase-datagen has kept.

    Attributes:
        source, target: its files.
        alignments: the file of its word alignments, which need not exist.
    """

    source: pathlib.Path
    target: pathlib.Path
    alignments: pathlib.Path


def kept_text(problem: str, data_dir: pathlib.Path, split: str) -> Text:
    """Return the text of "dev" or "test".

    Raises:
        UserError: there are no data, or the problem is reversed, so that its alignments are not
            those of the files.
    """
    from t2t_phrase.data.problem import get_problem

    loaded = get_problem(problem)
    if loaded.reversed:
        raise UserError(f"--problem={problem}: give {loaded.base_name}, without _rev")
    loaded.raw_text(str(data_dir), split)
    stem = f"{loaded.base_name}-{split}"
    return Text(
        data_dir / f"{stem}.{loaded.source_language}",
        data_dir / f"{stem}.{loaded.target_language}",
        data_dir / f"{stem}.target.align",
    )


def reported(log: pathlib.Path, pattern: str) -> tuple[str, ...] | None:
    """Return the groups of the last match of a pattern in the output of a command."""
    found = list(re.finditer(pattern, log.read_text(encoding="utf-8", errors="replace")))
    return found[-1].groups() if found else None
