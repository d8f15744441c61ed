"""Constituency trees from Stanza (Qi et al., 2020)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.parser import Parser, joined, respelt
from t2t_phrase.text.trees.trees import TreeError, from_brackets


class StanzaParser(Parser):
    """Stanza's tokenizer, tagger and constituency parser; each line is one sentence.

    Args:
        language: a language such as "en" whose models have been downloaded.

    Raises:
        UserError: Stanza or the models are not installed.
    """

    def __init__(self, language: str) -> None:
        try:
            self._stanza: Any = importlib.import_module("stanza")
        except ImportError as error:
            raise UserError(
                f"Stanza is not installed ({error}): pip install stanza, then "
                f"{_download(language)}; or give --parser=corenlp"
            ) from error
        try:
            self._pipeline = self._stanza.Pipeline(
                language,
                processors="tokenize,pos,constituency",
                tokenize_no_ssplit=True,
                download_method=None,
                verbose=False,
            )
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise UserError(
                f"Stanza has no constituency models for --language={language} here ({reason}); "
                f"if they exist for that language, download them: {_download(language)}"
            ) from error

    def parse(self, sentences: Sequence[str]) -> list[str]:
        """Return a tree for each sentence."""
        documents = [self._stanza.Document([], text=sentence) for sentence in sentences]
        return [_tree(document) for document in self._pipeline(documents)] if documents else []


def _download(language: str) -> str:
    return f"""python -c 'import stanza; stanza.download("{language}")'"""


def _tree(document: Any) -> str:
    """Return the tree of a document, with the words as they are written in the text.

    If the words of a multi-word token ("can't", "zum") spell it, they are kept; otherwise the first
    of them is replaced by the token and the others are removed.
    """
    trees = []
    for sentence in document.sentences:
        words: list[str] = []
        for token in sentence.tokens:
            parts = [word.text for word in token.words]
            spelt = "".join("".join(parts).split()) == "".join(token.text.split())
            words += parts if spelt else [token.text, *[""] * (len(parts) - 1)]
        try:
            trees.append(respelt(from_brackets(str(sentence.constituency)), words))
        except (TreeError, ValueError):
            # The caller compares the tree with the sentence and reports the error.
            trees.append(str(sentence.constituency))
    return joined(trees) if trees else ""
