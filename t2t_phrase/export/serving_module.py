"""The graph that is served: strings in, strings out.

Shapes: B sentences, K beams.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary import MOST_TOKENS
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import log_probabilities
from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses
from t2t_phrase.decoding.search.guided import ENTRY, STARTS, TOKENS
from t2t_phrase.decoding.search.output_limits import output_limits
from t2t_phrase.decoding.search.restrictions import PLAIN, can_require
from t2t_phrase.decoding.search.search_weights import (
    ConstantWeights,
    SearchWeights,
    prepare_weights,
)
from t2t_phrase.decoding.search.token_probabilities import LOG_PROB
from t2t_phrase.decoding.search.translate_ids import (
    MakeExpansion,
    NotesOmitted,
    translate_ids,
)
from t2t_phrase.decoding.shortlists import Shortlister
from t2t_phrase.export.graph_restrictions import GraphRestrictions
from t2t_phrase.export.graph_shortlists import GraphShortlists
from t2t_phrase.export.graph_side import GraphSide, read_lines
from t2t_phrase.export.servable import can_be_guided, check_servable
from t2t_phrase.features import of_side
from t2t_phrase.models.base import EncoderDecoder, Features
from t2t_phrase.special_ids import EOS_ID, PAD_ID
from t2t_phrase.text.encoders import SpellingEncoder
from t2t_phrase.text.in_graph.dictionaries import entries_in_graph
from t2t_phrase.text.in_graph.unknown_words import TfUnknownWords
from t2t_phrase.text.in_graph.visible import BLANKS
from t2t_phrase.text.in_graph.word_links import pharaoh, source_words, target_words
from t2t_phrase.text.in_graph.words import TfWords


class ServingModule(tf.Module):
    """A model, its vocabularies and a way of searching, as functions of string tensors.

    The functions return what `Translator` and `Scorer` return; their graphs consist of plain
    TensorFlow operations and those of tensorflow_text. Each function takes the sentences and then,
    in the order of `hparams.features`, the text of each feature that the model reads, (B,) string:

    - `translate(text, ...)`, the best `translation` (B,) of each sentence, its `score` (B,) and
      whether the sentence was `cut` (B,) to `max_input_size`;
    - `translate_with_dictionary(text, dictionary, ...)`, the same and how many entries of each
      sentence's dictionary (B,), lines `source<TAB>target`, occurred in the sentence (`matched`)
      and were `applied`, both (B,), and the `alignment` (B,) of the words in Pharaoh format, see
      `search.guided`. The function is None for a model that shows no attention to the source, and
      for a search that omits the decoder's notes;
    - `translate_with_constraints(text, dictionary, prefix, ...)`, where the entries are required,
      see `search.constrained`, and each translation begins with its `prefix` (B,): the same without
      alignment, and whether the prefix was `kept` (B,), which is false if it is too long or cannot
      be spelt. The function is None without beam search;
    - `nbest(text, ...)`, all `translations` (B, K), best first, their `scores` (B, K), their number
      `counts` (B,), and `cut` (B,). From place `counts` on, if a sentence has fewer hypotheses than
      K, the texts are empty and the scores WORST. With `token_probabilities`, also the `ids` of the
      tokens and their `token_probabilities`, both (B, K, L) and 0 after the last token, and the
      `confidences` (B, K), see `Hypothesis`;
    - `score(source, target, ...)`, the `log_probability` (B,) of each target given its source, in
      nats, and whether the source or target was `cut` (B,); the features of the source come after
      the source, those of the target after the target. The function is None for a model that cannot
      score.

    Args:
        model: an encoder-decoder on Keras' TensorFlow backend.
        source: the vocabulary of the source.
        target: the vocabulary of the target.
        hparams: the options of decoding; the function that is called decides on `return_beams`.
        make_expansion: another way of continuing hypotheses, see `search.translate_ids.search`.
        unknown_words: with `replace_unknown`, translations of unknown words for all functions, see
            `Translator`.
        shortlister: proposes the target tokens of each sentence, and excludes
            `translate_with_constraints`; None: all tokens are searched.

    Raises:
        UserError: `hparams` ask for sampling or alignments, a feature cannot be computed in a
            graph, or plain beam search cannot translate with the model and there is no other way;
            or unknown words are to be replaced, but the vocabulary has none, or the model has no
            attention.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        source: SpellingEncoder,
        target: SpellingEncoder,
        hparams: DecodeHParams,
        make_expansion: MakeExpansion | None = None,
        unknown_words: Mapping[str, str] | None = None,
        shortlister: Shortlister | None = None,
    ) -> None:
        super().__init__()
        check_servable(model, target, hparams, make_expansion)
        self._unknown = TfUnknownWords(unknown_words) if hparams.replace_unknown else None
        self._model = model
        self._hparams = hparams
        self._make_expansion = make_expansion
        features = model.hparams.features
        self.source = GraphSide("source", source.model_bytes, of_side(features, "source"))
        self.target = GraphSide("target", target.model_bytes, of_side(features, "target"))
        # The variables themselves are saved, without the Keras layers.
        self.weights = [variable.value for variable in model.trainable_variables]
        self.prepared = tf.nest.map_structure(
            lambda made: tf.Variable(made, trainable=False),
            prepare_weights(model, quantized=hparams.quantize == "int8")._asdict(),
        )
        text, pair = self.source.signature("text"), self.source.signature("source")
        self.translate = traced(self._translate, input_signature=text)
        self.nbest = traced(self._nbest, input_signature=text)
        self.translate_with_dictionary = None
        if can_be_guided(model):
            self.translate_with_dictionary = traced(
                self._guided,
                input_signature=[
                    text[0],
                    tf.TensorSpec((None,), tf.string, name="dictionary"),
                    *text[1:],
                ],
            )
        self.translate_with_constraints = None
        self.restrictions: GraphRestrictions | None = None
        self.shortlists: GraphShortlists | None = None
        if shortlister is not None:
            if make_expansion is not None:
                raise UserError("a lexicon cannot be used with an alignment model")
            encode = self.target.encoder.encode
            self.shortlists = GraphShortlists(shortlister, encode, target.vocab_size)
        if can_require(hparams) and shortlister is None:
            self.restrictions = GraphRestrictions(target, self.target.encoder)
            own = [
                tf.TensorSpec((None,), tf.string, name=name) for name in ("dictionary", "prefix")
            ]
            self.translate_with_constraints = traced(
                self._constrained, input_signature=[text[0], *own, *text[1:]]
            )
        if self.translate_with_dictionary is not None and hparams.search not in PLAIN:
            try:
                # Only the trace shows whether the search records what dictionaries need.
                self.translate_with_dictionary.get_concrete_function()
            except NotesOmitted:
                self.translate_with_dictionary = None
        self.score = None
        if not model.capabilities.cannot_score:
            self.score = traced(
                self._score, input_signature=[*pair, *self.target.signature("target")]
            )

    def signatures(self) -> dict[str, Any]:
        """Return the functions that are not None, by the names that clients know."""
        functions = {
            "serving_default": self.translate,
            "translate_with_dictionary": self.translate_with_dictionary,
            "translate_with_constraints": self.translate_with_constraints,
            "nbest": self.nbest,
            "score": self.score,
        }
        return {name: function for name, function in functions.items() if function is not None}

    def _translate(self, *inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        return _of_any_number(self._best, inputs)

    def _guided(self, *inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        def best(
            text: tf.Tensor, dictionary: tf.Tensor, *others: tf.Tensor
        ) -> dict[str, tf.Tensor]:
            return self._best(text, *others, dictionary=dictionary)

        return _of_any_number(best, inputs)

    def _constrained(self, *inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        def best(
            text: tf.Tensor, dictionary: tf.Tensor, prefix: tf.Tensor, *others: tf.Tensor
        ) -> dict[str, tf.Tensor]:
            return self._best(text, *others, terms=(dictionary, prefix))

        return _of_any_number(best, inputs)

    def _best(self, text: tf.Tensor, *others: tf.Tensor, **asked: Any) -> dict[str, tf.Tensor]:
        """Return the best translations and what is known of them; `asked` as for `_search`."""
        texts, scores, cut, known = self._search(text, *others, return_beams=False, **asked)
        return {"translation": texts[:, 0], "score": scores[:, 0], "cut": cut, **known}

    def _nbest(self, *inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        def all_found(*inputs: tf.Tensor) -> dict[str, tf.Tensor]:
            translations, scores, cut, known = self._search(*inputs, return_beams=True)
            real = scores > WORST / 2
            counts = tf.maximum(tf.reduce_sum(tf.cast(real, tf.int32), axis=1), 1)
            return {
                "translations": tf.where(real, translations, ""),
                "scores": tf.where(real, scores, WORST),
                "counts": counts,
                "cut": cut,
                **known,
            }

        return _of_any_number(all_found, inputs)

    def _score(self, *inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        count = len(self.source.signature("source"))
        limit = self._hparams.max_input_size

        def forced(*inputs: tf.Tensor) -> dict[str, tf.Tensor]:
            source, cut = self.source.encode(*inputs[:count], max_tokens=limit, keep_empty=True)
            target, also = self.target.encode(*inputs[count:], max_tokens=limit, keep_empty=True)
            features: Features = {**source, **target}
            return {"log_probability": log_probabilities(self._model, features), "cut": cut | also}

        return _of_any_number(forced, inputs)

    def _search(
        self,
        text: tf.Tensor,
        *others: tf.Tensor,
        return_beams: bool,
        dictionary: tf.Tensor | None = None,
        terms: tuple[tf.Tensor, tf.Tensor] | None = None,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, dict[str, tf.Tensor]]:
        """Search for translations.

        Args:
            text: (B,) string.
            *others: the texts of features, (B,) string.
            return_beams: whether all hypotheses are wanted.
            dictionary: (B,) string, the dictionary of each sentence; None: there are none.
            terms: a dictionary that is required and a prefix, (B,) string each; None: neither.

        Returns:
            (texts, scores, cut, found): (B, K) translations and scores, (B,) which sentences were
            cut, and further facts by name: with dictionaries, about the best translations, (B,)
            each; with token probabilities, about all translations and their tokens.
        """
        hparams = dataclasses.replace(
            self._hparams,
            return_beams=return_beams,
            write_alignments=dictionary is not None,
        )
        features, cut = self.source.encode(text, *others, max_tokens=hparams.max_input_size)
        real = features["inputs"] > EOS_ID
        text = self.source.read(text, hparams.max_input_size)
        known: dict[str, tf.Tensor] = {}
        if terms is not None:
            assert self.restrictions is not None, "else there is no such function"
            limits = output_limits(features["inputs"], hparams).each
            required = read_lines(terms[0], hparams.max_input_size)
            restricted, known = self.restrictions.of(text, required, terms[1], limits)
            features = {**features, **restricted}
        if hparams.aligns:
            _, starts = self.source.encoder.encode_with_starts(text)
        if dictionary is not None:
            guided, known["matched"] = self._entries(text, starts, dictionary, real)
            features = {**features, **guided}
        found = self._found(text, features, hparams)
        words = lengths = None
        if hparams.aligns:
            words = source_words(text, starts)
            lengths = tf.reduce_sum(tf.cast(real, tf.int32), axis=1)
        if dictionary is not None:
            begun = tf.cast(found.notes[ENTRY][:, 0] > 0, tf.int32)
            known["applied"] = tf.reduce_sum(begun, axis=1)
            known["alignment"] = pharaoh(
                found.notes[POSITION][:, 0],
                target_words(self.target.encoder, found.ids[:, 0]),
                words,
                lengths,
            )
        if return_beams and LOG_PROB in found.notes:
            known.update(token_probabilities(found))
        if terms is not None:
            assert self.restrictions is not None, "else there is no such function"
            known["applied"] = self.restrictions.applied(found)
        return self._texts(found, text, words, lengths), found.scores, cut, known

    def _entries(
        self, text: tf.Tensor, starts: tf.RaggedTensor, dictionary: tf.Tensor, real: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        """Return the features by which entries are forced, and how many occur in each sentence.

        Args:
            text: (B,) string.
            starts: where the tokens of the texts begin.
            dictionary: (B,) string.
            real: (B, S) bool, the places of tokens other than EOS.
        """
        entries = entries_in_graph(
            text,
            starts,
            read_lines(dictionary, self._hparams.max_input_size),
            self.target.encoder,
            most_tokens=MOST_TOKENS,
            most_read=self._hparams.max_input_size,
        )
        length = tf.shape(real)[1]
        # In a sentence that was cut, neither EOS nor the missing part begins a phrase.
        places = tf.pad(entries.starts, [(0, 0), (0, length)])[:, :length]
        return {STARTS: tf.where(real, places, 0), TOKENS: entries.tokens}, entries.matched

    def _found(self, text: tf.Tensor, features: Features, hparams: DecodeHParams) -> Hypotheses:
        """Return the hypotheses of a batch, searched with the prepared weights."""
        weights = SearchWeights(**tf.nest.map_structure(tf.convert_to_tensor, self.prepared))

        def run(shortlist: Features) -> Hypotheses:
            return translate_ids(
                self._model,
                {**features, **shortlist},
                hparams,
                weights=ConstantWeights(weights),
                make_expansion=self._make_expansion,
            )

        if self.shortlists is None:
            return run({})
        return self.shortlists.search(run, text, features.get(TOKENS))

    def _texts(
        self,
        found: Hypotheses,
        text: tf.Tensor,
        words: tf.RaggedTensor | None,
        lengths: tf.Tensor | None,
    ) -> tf.Tensor:
        """Return the texts (B, K) of hypotheses, in which unknown words are replaced.

        Args:
            found: the hypotheses.
            text: (B,) string, the sources.
            words: see `source_words`; None: no unknown words are replaced.
            lengths: (B,) int32, the tokens of each source.
        """
        beams, length = found.ids.shape[1], tf.shape(found.ids)[2]
        ids = tf.reshape(found.ids, (-1, length))
        if self._unknown is None:
            texts = self.target.encoder.decode(ids)
        else:
            assert isinstance(self.target.encoder, TfWords), "checked above"
            unknown = self._unknown.replacements(text, words, lengths, found.notes[POSITION])
            texts = self.target.encoder.decode(ids, tf.reshape(unknown, (-1, length)))
        texts = tf.strings.strip(tf.strings.regex_replace(texts, BLANKS, " "))
        return tf.reshape(texts, (-1, beams))


def token_probabilities(found: Hypotheses) -> dict[str, tf.Tensor]:
    """Return the facts about the tokens of hypotheses that `nbest` gives, by name."""
    log_probs = found.notes[LOG_PROB]
    places = tf.range(1, tf.shape(found.ids)[2] + 1)
    lengths = tf.reduce_max(tf.where(found.ids != PAD_ID, places, 0), axis=2)  # (B, K)
    real = places <= lengths[..., None]
    total = tf.reduce_sum(tf.where(real, log_probs, 0.0), axis=2)
    return {
        "ids": found.ids,
        "token_probabilities": tf.where(real, tf.exp(log_probs), 0.0),
        "confidences": tf.exp(total / tf.cast(tf.maximum(lengths, 1), tf.float32)),
    }


def _of_any_number(
    function: Callable[..., dict[str, tf.Tensor]], inputs: Sequence[tf.Tensor]
) -> dict[str, tf.Tensor]:
    """Call a function of inputs (B,), which need not accept an empty batch.

    If B is 0, the function is given one sentence without words, whose results are dropped.
    """
    count = tf.size(inputs[0])
    blank = tf.fill([tf.cast(count == 0, tf.int32)], "")
    found = function(*(tf.concat([strings, blank], axis=0) for strings in inputs))
    return {name: values[:count] for name, values in found.items()}
