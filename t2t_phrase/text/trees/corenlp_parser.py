"""Constituency trees from a CoreNLP server (Manning et al., 2014)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.parser import Parser, joined, respelt
from t2t_phrase.text.trees.trees import TreeError, from_brackets

# In seconds; parsing time grows with the cube of the length.
_TIMEOUT = 300
# How CoreNLP answers a sentence that takes too long, that it fails on, or that it refuses.
_FAILED = (400, 500)
_PROPERTIES = {
    # In milliseconds, so that the server answers first; its default is 15 seconds.
    "timeout": "240000",
    "ssplit.isOneSentence": "true",
    # Keep characters unknown to the tokenizer, and do not change the spelling of the others.
    "tokenize.options": "untokenizable=noneKeep,invertible=true",
}


class CoreNLPParser(Parser):
    """Parses with a running server, in the language for which it was started.

    Args:
        url: address of the server.

    Raises:
        UserError: no CoreNLP server answers at this address.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            from nltk.parse.corenlp import CoreNLPParser as Client

            self._client = Client(url=url.rstrip("/"))
        except ImportError as error:
            raise UserError(
                f"the CoreNLP client needs another package ({error}): pip install requests"
            ) from error
        try:
            self._tree("One test.")
        except TreeError as error:
            raise self._unavailable(error) from error

    def parse(self, sentences: Sequence[str]) -> list[str | TreeError]:
        """Return for each sentence a tree, or why the server could not parse it.

        Raises:
            UserError: the server does not answer, or does not answer like a CoreNLP server.
        """
        found: list[str | TreeError] = []
        for sentence in sentences:
            try:
                found.append(self._tree(sentence))
            except TreeError as error:
                found.append(error)
        return found

    def _tree(self, text: str) -> str:
        try:
            answer = self._client.api_call(text, properties=_PROPERTIES, timeout=_TIMEOUT)
            sentences = answer["sentences"]
            trees = [sentence["parse"] for sentence in sentences]
        except OSError as error:
            # The exceptions of requests are OSErrors, and so is nltk's for a server error.
            answer = getattr(error, "response", None)
            if answer is not None and answer.status_code in _FAILED:
                reason = " ".join(answer.text.split())[:200]
                raise TreeError(f"CoreNLP answers {answer.status_code} ({reason})") from error
            raise self._unavailable(error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"--corenlp_url={self._url} does not answer like a CoreNLP server with the parse "
                f"annotator ({error!r})"
            ) from error
        at = 0
        spelt = []
        for sentence, tree in zip(sentences, trees, strict=True):
            words = []
            for token in sentence.get("tokens", ()):
                word, at = _written(text, token, at)
                words.append(word)
            try:
                spelt.append(respelt(from_brackets(tree), words))
            except (TreeError, ValueError):
                # The caller compares the tree with the sentence and reports the error.
                spelt.append(" ".join(tree.split()))
        return joined(spelt) if spelt else ""

    def _unavailable(self, error: Exception) -> UserError:
        return UserError(
            f"no CoreNLP server answers at --corenlp_url={self._url} "
            f"({' '.join(str(error).split())[:200]}); start one in the folder of CoreNLP: "
            "java -mx4g -cp '*' edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000"
        )


def _written(text: str, token: Mapping[str, Any], at: int) -> tuple[str, int]:
    """Return the text of a token, at position `at` or later, and the position of its end.

    Java counts UTF-16 units. The words of a multi-word token share its position; the first word
    gets all of the token's text.
    """
    units = text.encode("utf-16-le")
    begin = max(int(token["characterOffsetBegin"]), at)
    end = max(int(token["characterOffsetEnd"]), begin)
    return units[2 * begin : 2 * end].decode("utf-16-le", errors="replace"), end
