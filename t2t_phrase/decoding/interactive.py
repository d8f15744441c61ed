"""Interactive decoding: typed lines are translated or change options."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary_files import missing_entries
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import Hypothesis, format_hypotheses, format_links
from t2t_phrase.decoding.sides import FeatureTexts
from t2t_phrase.decoding.translator import Translator

HELP = (
    "Type a sentence to translate it, name=value (such as beam_size=8,return_beams=true) to change "
    "options, ? to show them, q to quit."
)
_OPTION = re.compile(r"\s*(\w+)\s*=")


class Conversation:
    """Answers typed lines.

    A line that starts with the name of an option and "=" changes options, "?" shows them, and "q"
    quits; any other line is translated.

    Args:
        make_translator: called at the start and whenever options change.
        hparams: the initial options.
        annotate: makes the text of each source feature of typed lines, for a model that reads any.
    """

    def __init__(
        self,
        make_translator: Callable[[DecodeHParams], Translator],
        hparams: DecodeHParams,
        *,
        annotate: Callable[[Sequence[str]], FeatureTexts] | None = None,
    ) -> None:
        self.hparams = hparams
        self._annotate = annotate
        self._make = make_translator
        self._translator = make_translator(hparams)

    def answer(self, line: str) -> str | None:
        """Return the answer to a line; None: quit."""
        if line.strip() == "q":
            return None
        if line.strip() == "?":
            return "\n".join(f"{name}={value}" for name, value in vars(self.hparams).items())
        option = _OPTION.match(line)
        if option and option[1] in {field.name for field in dataclasses.fields(DecodeHParams)}:
            return self._change(line)
        features = None if self._annotate is None else self._annotate([line])
        encoded = self._translator.encode([line], features)
        (found,) = self._translator.translate_encoded(encoded)
        lines = [self._format(hypothesis) for hypothesis in found]
        lines += [f"({sentence})" for sentence in missing_entries(found[0])]
        if encoded.cut:
            limit = self.hparams.max_input_size
            lines.append(f"({encoded.lengths[0]} tokens, cut to {limit} by max_input_size)")
        return "\n".join(lines)

    def _format(self, hypothesis: Hypothesis) -> str:
        text = format_hypotheses([hypothesis], self.hparams)
        if not self.hparams.write_alignments:
            return text
        return f"{text}\t{format_links([hypothesis])}"

    def _change(self, line: str) -> str:
        try:
            changed = self.hparams.override(line)
            self._translator = self._make(changed)
        except UserError as error:
            return f"error: {error}"
        self.hparams = changed
        return f"changed: {line.strip()}"
