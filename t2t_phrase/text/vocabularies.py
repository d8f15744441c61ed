"""The vocabularies of a problem or model: one for both languages, or one for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

# Copies, in the folder of a run, of its joint vocabulary or its source and target vocabularies.
JOINT_FILE = "vocab.joint"
SIDE_FILES = ("vocab.source", "vocab.target")
# Copies of tensor2tensor's vocabularies in the folder of an imported run: the joint or the source's
# vocabulary, and the target's if it is separate.
T2T_VOCABULARY = "vocab.t2t.subwords"
T2T_TARGET_VOCABULARY = "vocab.t2t.targets.subwords"


class Encoder(Protocol):
    """Turns text into ids and back."""

    @property
    def vocab_size(self) -> int:
        """Number of ids, special ones included."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, without EOS."""

    def encode_with_starts(self, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return the ids of each text and the byte offsets (UTF-8) at which they begin."""

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids` up to the first EOS."""


class Vocabularies(NamedTuple):
    """The encoders of both sides; the same object twice if the languages share a vocabulary."""

    source: Encoder
    target: Encoder

    @property
    def shared(self) -> bool:
        """Whether both languages share one vocabulary."""
        return self.source is self.target

    @property
    def reversed(self) -> Vocabularies:
        """The vocabularies of the opposite direction."""
        return Vocabularies(self.target, self.source)
