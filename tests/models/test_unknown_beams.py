"""A step is traced once for any number of sentences, source tokens, beams and earlier steps."""

import numpy as np
import pytest
import tensorflow as tf
from exact_models import VOCAB, padded, random_sources
from keras import tree
from mostly_slow import mostly_slow
from random_weights import randomize
from small_luong_models import small_set
from small_phrase_models import MIXED, SMALL

from t2t_phrase import registry
from t2t_phrase.decoding.search.batch_decoder import start_decoder

registry.discover()
MODELS = {
    "relative": SMALL.replace(max_relative_position=2, pos="none"),
    **MIXED,
    "recurrent": small_set("luong_base_local_p_general_feed"),
}
IDS, NUMBER = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((), tf.int32)


@pytest.mark.parametrize("name", mostly_slow(MODELS, "mixed_with_distances", "recurrent"))
def test_a_traced_step_is_that_of_known_sizes(name):
    hparams = MODELS[name]
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model)
    structure = {}

    @tf.function(input_signature=[IDS, NUMBER], autograph=False)
    def start(inputs, beams):
        decoder = start_decoder(model, {"inputs": inputs}, beam_size=beams, length=0, growing=True)
        structure["state"] = (decoder.memory, decoder.cache)
        return tree.flatten(structure["state"])

    made = start.get_concrete_function().structured_outputs
    specs = [tf.TensorSpec(each.shape, each.dtype) for each in made]

    @tf.function(input_signature=[IDS, IDS, NUMBER, specs], autograph=False)
    def step(ids, parents, index, state):
        memory, cache = tree.pack_sequence_as(structure["state"], state)
        logits, cache, _ = model.step(ids, index, memory, model.reorder(cache, parents))
        return logits, tree.flatten(cache)

    rng = np.random.default_rng(0)
    for lengths, beams in (((6, 2, 4), 3), ((9,), 1)):
        inputs = padded(random_sources(lengths))
        memory = model.prepare_memory({"inputs": inputs})
        cache = model.start_cache(memory, beams, 4)
        state = start(inputs, beams)
        ids = parents = np.zeros((len(lengths), beams), "int32")
        for index in range(4):
            expected, cache, _ = model.step(ids, index, memory, model.reorder(cache, parents))
            logits, after = step(ids, parents, index, state)
            np.testing.assert_allclose(logits, expected, atol=1e-5)
            state = [*state[: len(state) - len(after)], *after]
            ids = rng.integers(1, VOCAB, size=ids.shape, dtype="int32")
            parents = rng.integers(beams, size=ids.shape, dtype="int32")
