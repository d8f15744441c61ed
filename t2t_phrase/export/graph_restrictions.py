"""Required terms, forbidden phrases and prefixes of a served model, inside its graph.

Shapes: B sentences.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from t2t_phrase.decoding.dictionary import MOST_TOKENS
from t2t_phrase.decoding.search import forbidden, prefix
from t2t_phrase.decoding.search.beam_search import Hypotheses
from t2t_phrase.decoding.search.required_terms import TERM, TERMS
from t2t_phrase.export.graph_side import BYTES_PER_TOKEN
from t2t_phrase.special_ids import PAD_ID
from t2t_phrase.text.encoders import SpellingEncoder
from t2t_phrase.text.in_graph.restrictions import prefixes_in_graph, terms_in_graph
from t2t_phrase.text.in_graph.sentences import normalized
from t2t_phrase.text.in_graph.spellings import TfSpellings
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.words import TfWords
from t2t_phrase.text.token_texts import TokenTexts


class GraphRestrictions(tf.Module):
    """Turns dictionaries and prefixes into features that a search reads.

    Args:
        target: the vocabulary of the target.
        encoder: the same vocabulary for tensors.
    """

    def __init__(self, target: SpellingEncoder, encoder: TfSubwords | TfWords) -> None:
        super().__init__()
        texts = TokenTexts(target)
        self._encoder = encoder
        self._tables = texts.tables
        self.spellings = TfSpellings(texts)

    def of(
        self, text: tf.Tensor, dictionary: tf.Tensor, begun: tf.Tensor, limits: tf.Tensor
    ) -> tuple[dict[str, Any], dict[str, tf.Tensor]]:
        """Return the features, and the known facts about each sentence, (B,) by name.

        Args:
            text: (B,) string, the sentences.
            dictionary: (B,) string, the required and forbidden entries of each sentence.
            begun: (B,) string, the prefix of each translation.
            limits: (B,) int32, the greatest length of each output.
        """
        given = (limits, self._encoder, self.spellings)
        terms = terms_in_graph(
            text, dictionary, *given, most_tokens=MOST_TOKENS, first_place=forbidden.FIRST_PLACE
        )
        # No output has room for such a prefix, so the time it would take is saved.
        long = tf.strings.length(normalized(begun)) > limits * BYTES_PER_TOKEN
        prefixes = prefixes_in_graph(tf.where(long, "", begun), *given)
        features = {
            **self._tables._asdict(),
            TERMS: terms.terms,
            forbidden.EDGES: terms.edges,
            prefix.TOKENS: prefixes.tokens,
            prefix.EDGES: prefixes.edges,
            prefix.RANGES: prefixes.ranges,
        }
        return features, {"matched": terms.matched, "kept": prefixes.kept & ~long}

    def applied(self, found: Hypotheses) -> tf.Tensor:
        """Return (B,) int32: the number of terms in the best hypotheses, see `terms_met`."""
        ids, noted = found.ids[:, 0], found.notes[TERM][:, 0]
        following = tf.pad(ids[:, 1:], [(0, 0), (0, 1)])
        table = self._tables.begins_word
        begins = (following < len(table)) & tf.gather(table, following % len(table))
        complete = (noted > 0) & ((following == PAD_ID) | begins)
        return tf.reduce_sum(tf.cast(complete, tf.int32), axis=1)
