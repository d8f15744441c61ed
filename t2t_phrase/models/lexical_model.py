"""The base class of lexical models, which decode tokens whose alignment is known."""

from __future__ import annotations

from typing import Any, ClassVar

import keras
from keras import ops

from t2t_phrase.config import UserError
from t2t_phrase.features import ALIGNMENT
from t2t_phrase.models.base import Cache, EncoderDecoder, Features, Step
from t2t_phrase.models.capabilities import Capabilities
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.ops.position import positions


class LexicalModel(EncoderDecoder):
    """First base class of a lexical model; the second is the model without alignment.

    A subclass implements `align_memory`.
    """

    capabilities = Capabilities(
        cannot_translate="a model with an alignment head translates only together with an "
        "alignment model: give the folder of its run to t2t-phrase-decoder, or another command, "
        "with --alignment_model_dir"
    )
    # The entries of the memory that have an axis for sentences.
    memory_of_sentences: ClassVar[tuple[str, ...]]
    # Title for the part of the model that reads the alignment.
    alignment_title: ClassVar[str] = "alignment head"

    def align_memory(self, memory: Cache, alignment: Any) -> Cache:
        """Return the memory for tokens that are aligned with known positions.

        Args:
            memory: from `prepare_memory`.
            alignment: (B, K) int, the source position that the predicted token is aligned with.
        """
        raise NotImplementedError

    def exhibits(self, features: Features) -> dict[str, Exhibit]:
        """Return the alignment as weights: 1 at the aligned position, 0 elsewhere.

        The row of a token that is aligned with nothing is all 0.
        """
        alignment = ops.cast(features[ALIGNMENT.name], "int32")
        weights = ops.equal(alignment[..., None], positions(ops.shape(features["inputs"])[1]))
        return {
            "alignment": Exhibit(
                self.alignment_title, "target", "source", ops.cast(weights, "float32")
            )
        }

    def take_memory(self, memory: Cache, rows: Any) -> Cache:
        """Return the memory of some sentences; see `EncoderDecoder`."""
        by_sentence = {name: memory[name] for name in self.memory_of_sentences}
        taken = keras.tree.map_structure(lambda x: ops.take(x, rows, axis=0), by_sentence)
        return {**memory, **taken}

    def step(
        self, ids: Any, index: Any, memory: Cache, cache: Cache, alignment: Any | None = None
    ) -> Step:
        """Decode the tokens at time `index`, which are aligned with known positions.

        Args:
            ids: as for `EncoderDecoder`.
            index: likewise.
            memory: likewise.
            cache: likewise.
            alignment: see `align_memory`.

        Raises:
            UserError: `alignment` is missing, because there is no alignment model to propose it.
        """
        if alignment is None:
            raise UserError(self.capabilities.cannot_translate)
        return super().step(ids, index, self.align_memory(memory, alignment), cache)
