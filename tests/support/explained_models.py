"""Small random models of every family with a vocabulary, for pages that explain translations."""

from __future__ import annotations

import functools
from typing import Any

import small_alignment_rnns
import small_luong_models
from random_weights import randomize
from small_phrase_models import GRANULARITIES, LEVELS_OF_TREES, MIXED, REPRESENTATIONS, SMALL
from tiny_pair import make_pair
from toy_run import WORDS

from t2t_phrase import registry
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
from t2t_phrase.insights.explain import Explainer
from t2t_phrase.models.alignment_assisted import with_alignment_heads
from t2t_phrase.models.alignment_model import with_jumps
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.text.encoders import make_encoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies

registry.discover()
SOURCE, TARGET = "the house sleeps away", "a cat runs"
# The text of each feature that a model may read.
TEXTS = {
    "levels": "the\thouse\t\t\tsleeps\t\taway",
    "alignment": "0-1 1-1 2-0",
}
HPARAMS: dict[str, Any] = {
    "transformer": SMALL,
    "mixed": MIXED["mixed"],
    "mixed_with_distances": MIXED["mixed_with_distances"],
    "phrases": REPRESENTATIONS["representation_and_attention"],
    "granularities": GRANULARITIES,
    "levels and tags": LEVELS_OF_TREES.replace(tag_loss_weight=0.1),
    "local_p": small_luong_models.small_set("luong_local_p_general_feed_demo"),
    "alignment head": with_alignment_heads(SMALL),
    "jumps": with_jumps(SMALL),
    "biased rnn": small_alignment_rnns.LEXICAL["dot"],
    "jumping rnn": small_alignment_rnns.JUMPS["jumps"],
}
# Those that explanations are compared of: an ensemble shows what these two show.
MEMBERS = ("local_p", "granularities")
NAMES = (*(name for name in HPARAMS if name not in MEMBERS), "pair", "ensemble")


@functools.cache
def vocabularies() -> Vocabularies:
    """Return subwords of the words of `toy_run`, shared by both sides."""
    encoder = make_encoder(train_subwords([" ".join(WORDS)] * 20, vocab_size=300))
    return Vocabularies(encoder, encoder)


@functools.cache
def explainer(name: str) -> Explainer:
    """Return the explainer of one of `NAMES` or `MEMBERS`."""
    both, size = vocabularies(), vocabularies().source.vocab_size
    if name == "pair":
        pair = make_pair(vocab_size=size)
        expansion = functools.partial(alignment_expansion, pair)
        # What the search compiles grows with its beam.
        options = DecodeHParams(beam_size=2, extra_length=4)
        return Explainer(pair, both, options, make_expansion=expansion)
    if name == "ensemble":
        members = [explainer(member).model for member in MEMBERS]
        return Explainer(Ensemble(members), both)
    hparams = HPARAMS[name]
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=size)
    randomize(model, seed=len(name))
    if name == "jumps":
        # Some positions are likely, others are not.
        model.jump_map.kernel.assign(model.jump_map.kernel * 3)
    return Explainer(model, both, labels=["NP", "VP"])


def texts_of(name: str) -> dict[str, str]:
    """Return the texts of the features that a model reads of both sides."""
    needed = explainer(name).needed_features(targets=True)
    return {feature.name: TEXTS[feature.name] for feature in needed}
