"""Options, checks and settings shared by the translation and the scoring of files."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from t2t_phrase.config import UserError, shown
from t2t_phrase.decoding.feature_files import NO_PARSER, ParserChoice
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.features import ALIGN
from t2t_phrase.io import text_job
from t2t_phrase.io.files import sha256_of
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.text.dictionaries.reader import MODES, Mode

# The forms of a line of output.
Format = Literal["text", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
# The decoding options that only alignments depend on.
LINKS = ("write_alignments", "alignment_layers", "alignment_heads")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Beside:
    """Files and options that a text is translated or scored with, apart from the model.

    Attributes:
        feature_files: the file of each feature whose file is not `TEXT.STREAM`, by feature name.
        parser: makes the trees for which there is no file.
        dictionary: file with `source phrase<TAB>target phrase`, for all sentences; "": none.
        sentence_dictionary: the same for single sentences, with the sentence number first.
        dictionary_mode: how the entries are used, see `read_dictionary`.
        prefix_file: file with the beginning of each translation, one per line; "": none.
        unknown_dictionary: file with translations of unknown words, for `replace_unknown=true`.
        lexicon_file: file with translations of words, for shortlists; "": none.
        alignment_model_dir: run or checkpoint of an alignment model to search with; None: none.
        xla: whether to compile with XLA; None: only on a GPU.
        n_best_format: "text", or "json" for a line of JSON with everything known about each
            hypothesis, see `decoding.n_best_json`.
        settings: anything else that the results depend on, such as the weights of an ensemble.
    """

    feature_files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    parser: ParserChoice = NO_PARSER
    dictionary: str = ""
    sentence_dictionary: str = ""
    dictionary_mode: Mode = "guide"
    prefix_file: str = ""
    unknown_dictionary: str = ""
    lexicon_file: str = ""
    alignment_model_dir: str | None = None
    xla: bool | None = None
    n_best_format: Format = "text"
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse values that are none of the known ones."""
        known = {"dictionary_mode": MODES, "n_best_format": FORMATS}
        for name, values in known.items():
            value = getattr(self, name)
            if value not in values:
                listed = ", ".join(values)
                raise UserError(f"{name}: expected one of {listed}, got {shown(value)}")

    def inputs(self, source: str | None) -> Iterator[str | None]:
        """Yield the files that are read."""
        yield source
        yield from self.feature_files.values()
        files = (self.dictionary, self.sentence_dictionary, self.unknown_dictionary)
        yield from filter(None, (*files, self.prefix_file, self.lexicon_file))

    def check_lexicon(self) -> None:
        """Refuse a lexicon together with options that need the whole vocabulary.

        Raises:
            UserError: a lexicon is given with prefixes, required terms or an alignment model.
        """
        others = {
            f"--prefix_file={self.prefix_file}": self.prefix_file,
            "--dictionary_mode=require": self.dictionary_mode == "require",
            f"--alignment_model_dir={self.alignment_model_dir}": self.alignment_model_dir,
        }
        for name, given in others.items():
            if self.lexicon_file and given:
                raise UserError(
                    f"--lexicon_file={self.lexicon_file}: cannot be used together with {name}, "
                    "which needs the whole vocabulary"
                )

    def endings(self, hparams: DecodeHParams, source: str | None, target: str | None) -> list[str]:
        """Return the endings of the files that are written next to the output.

        Raises:
            UserError: the output is not a regular file.
        """
        if not hparams.write_alignments or self.n_best_format == "json":
            return []
        text_job.check_beside(target, ALIGN, self.inputs(source))
        return [ALIGN]

    def all_settings(
        self, task: str, trained: TrainedModel, options: dict[str, Any], *, aligns: bool
    ) -> dict[str, Any]:
        """Return the settings that the results of a task depend on, apart from its input.

        Args:
            task: "translate" or "score".
            trained: the model.
            options: the decoding options, by name.
            aligns: whether anything needs alignments.
        """
        if not options.get("sampling_temp"):
            # It only groups sentences for computation, and may be lowered to save memory.
            options.pop("batch_size", None)
        if not aligns:
            options = {name: value for name, value in options.items() if name not in LINKS}
        return {
            "task": task,
            "checkpoint": ", ".join(
                f"{pathlib.Path(member.checkpoint).name} (step {member.step})"
                for member in trained.members
            ),
            # The index has the checksums of all weights.
            "weights": ", ".join(
                sha256_of(f"{member.checkpoint}.index")[:16] for member in trained.members
            ),
            **self.settings,
            "xla_compile": self.xla,
            **options,
            **self.parser.settings,
        }


def check_alignment_options(hparams: DecodeHParams, *, used: bool) -> None:
    """Refuse layers and heads of alignments that nothing needs.

    Args:
        hparams: the options.
        used: whether anything other than the options needs alignments.

    Raises:
        UserError: the options are given but not needed.
    """
    for name in ("alignment_layers", "alignment_heads"):
        if getattr(hparams, name) and not (used or hparams.aligns or hparams.coverage_penalty):
            raise UserError(
                f"{name}={list(getattr(hparams, name))}: is only used with write_alignments=true, "
                "replace_unknown=true, coverage_penalty or a dictionary"
            )
