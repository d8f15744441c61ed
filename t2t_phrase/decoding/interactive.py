"""A conversation: lines are translated, or change the options."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

from t2t_phrase.config import HParamsError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator, format_hypotheses

HELP = (
    "Type a sentence to translate it, name=value (such as beam_size=8,return_beams=true) to change "
    "options, ? to see them, q to leave."
)
_OPTION = re.compile(r"\s*(\w+)\s*=")


class Conversation:
    """Answers line by line.

    A line that starts with an option's name and "=" changes options; "?" shows them; "q" ends.

    Args:
        make_translator: called again whenever an option has changed.
        hparams: the options at the start.
        cut: cuts lines into their phrases, for a model that reads them.
    """

    def __init__(
        self,
        make_translator: Callable[[DecodeHParams], Translator],
        hparams: DecodeHParams,
        *,
        cut: Callable[[Sequence[str]], list[list[str]]] | None = None,
    ) -> None:
        self.hparams = hparams
        self._cut = cut
        self._make = make_translator
        self._translator = make_translator(hparams)

    def answer(self, line: str) -> str | None:
        """Return what to print, or None to leave."""
        if line.strip() == "q":
            return None
        if line.strip() == "?":
            return "\n".join(f"{name}={value}" for name, value in vars(self.hparams).items())
        option = _OPTION.match(line)
        if option and option[1] in {field.name for field in dataclasses.fields(DecodeHParams)}:
            return self._change(line)
        phrases = None if self._cut is None else self._cut([line])
        encoded = self._translator.encode_lines([line], phrases)
        (found,) = self._translator.translate_encoded(encoded)
        lines = [format_hypotheses([hypothesis], self.hparams) for hypothesis in found]
        if encoded.cut:
            limit = self.hparams.max_input_size
            lines.append(f"({encoded.lengths[0]} tokens, cut to {limit} by max_input_size)")
        return "\n".join(lines)

    def _change(self, line: str) -> str:
        try:
            self.hparams = self.hparams.override(line)
        except HParamsError as error:
            return f"error: {error}"
        self._translator = self._make(self.hparams)
        return f"changed: {line.strip()}"
