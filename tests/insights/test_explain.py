"""Explanations against the library's weights, for models of every family."""

from __future__ import annotations

import base64
import functools
import math
import zlib

import numpy as np
import pytest
import tensorflow as tf
from explained_models import NAMES, SOURCE, TARGET, explainer, texts_of, vocabularies
from mostly_slow import mostly_slow
from toy_run import make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.source_attention import source_attention, strongest
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.insights.explain import Explainer
from t2t_phrase.insights.explanation_json import explanation_to_json
from t2t_phrase.insights.labels import kind_of
from t2t_phrase.layers.attention.layout import Layout


def unpacked(text):
    content = zlib.decompress(base64.b64decode(text))
    half = len(content) // 2
    return [low + 256 * high for low, high in zip(content[:half], content[half:], strict=True)]


def printed(value):
    """Return {(name, layer, head): [(row unit, column unit, printed digits)]} of an explanation.

    A unit is its kind, its place in the group, and its last token.
    """
    found = {}
    for one in value["maps"]:
        for number, layer in enumerate(one["layers"]):
            numbers = iter(unpacked(layer["data"]))
            for matrix in layer["matrices"]:
                rows, columns = (
                    [
                        (
                            group["kind"],
                            place,
                            (group["spans"] or [0, -1] * (place + 1))[2 * place + 1],
                        )
                        for group in (value["groups"][i] for i in matrix[side])
                        for place in range(len(group["labels"]))
                    ]
                    for side in ("rows", "columns")
                )
                found[one["name"], number, matrix["head"]] = [
                    (row, column, f"{next(numbers) / 1000:.3f}")
                    for row in rows
                    for column in columns
                ]
            assert next(numbers, None) is None
    return found


def index_of(unit, kinds, size):
    """Return where a unit is in rows or columns of weights: blocks of `size` for each kind."""
    kind, place, last = unit
    of_segments = kind != "tokens" and not kind.endswith("-grams")
    return kinds.index(kind) * size + (place if of_segments else last)


def check_weights(model, features, value):
    """Compare every printed weight with the one that the model returns."""
    maps, weights = model.attention_maps(), model.attention_weights(features)
    exhibits, seen = model.exhibits(features), set()
    for (name, number, head), cells in printed(value).items():
        seen.add(name)
        if name in exhibits:
            expected = np.asarray(exhibits[name].values)[0]
            for (_, row, _), (_, column, _), digits in cells:
                assert digits == f"{expected[row, column]:.3f}"
            continue
        layout: Layout = maps[name].layouts[number]
        own = np.asarray(weights[name][number])[0]
        own = own if layout.num_heads else own[None]
        of = range(len(own)) if head is None else [head]
        row_kinds, column_kinds = (
            [kind_of(units) for units in side] for side in (layout.rows, layout.columns)
        )
        height, width = own.shape[1] // len(row_kinds), own.shape[2] // len(column_kinds)
        for row, column, digits in cells:
            if layout.columns_by_head:
                # Each head has a single block, and the mean is over those of a kind.
                column_kinds = [column[0]]
                heads = [h for h in of if kind_of(layout.columns_by_head[h]) == column[0]]
            else:
                heads = list(of)
            places = index_of(row, row_kinds, height), index_of(column, column_kinds, width)
            expected = own[heads, places[0], places[1]].mean()
            assert digits == f"{expected:.3f}", (name, number, head, row, column)
    assert seen == {*maps, *exhibits}


@functools.cache
def features_of(name):
    """Return the features of SOURCE and TARGET as a scorer encodes them, and the explanation."""
    own = explainer(name)
    found = own.explain(SOURCE, TARGET, texts=texts_of(name))
    encoder, features = vocabularies().source, {}
    features["inputs"] = np.array([[*encoder.encode(SOURCE), 1]], "int32")
    features["targets"] = np.array([[*encoder.encode(TARGET), 1]], "int32")
    if own.needed_features(targets=True) or name == "pair":
        features["alignment"] = np.array([found.aligned or [0]], "int32")
    if "levels" in texts_of(name):
        from t2t_phrase.features import LEVELS
        from t2t_phrase.text.annotations.base import Sentence, annotation_of

        ((ids, starts),) = encoder.encode_with_starts([SOURCE])
        form = annotation_of(LEVELS)
        levels = form.encode(Sentence(SOURCE, ids, starts), texts_of(name)["levels"])
        features["levels"] = np.array([[*levels, form.end(levels)]], "int32")
    return features, found


@pytest.mark.parametrize("name", mostly_slow(NAMES, "mixed", "phrases", "jumps"))
def test_printed_weights_are_the_librarys(name):
    features, found = features_of(name)
    model = explainer(name).model
    value = explanation_to_json(found, bound=10**7)
    assert not value["left_out"]
    check_weights(model, features, value)
    log_probabilities = np.asarray(model.token_log_probabilities(features))[0]
    assert value["log_probabilities"] == [round(float(x), 4) for x in log_probabilities]
    assert [name for name, _ in value["partitions"]] == list(model.partitions(features))
    for partition, segments in value["partitions"]:
        members = np.asarray(model.partitions(features)[partition])[0]
        for row, (first, last, _) in zip(members[members.any(-1)], segments, strict=True):
            assert np.flatnonzero(row).tolist() == list(range(first, last + 1))
    if "alignment" not in features and model.attention_maps():
        attention = source_attention(model)
        weights = model.attention_weights(features)
        links = strongest(attention.accumulate(weights, model.partitions(features)))
        assert value["aligned"] == np.asarray(links)[0].tolist()


@pytest.mark.slow
def test_windows_prunings_and_choices_are_the_models():
    features, found = features_of("local_p")
    (windows,) = explainer("local_p").model.attention_windows(features)["cross"]
    (cross,) = explanation_to_json(found, bound=10**7)["maps"]
    shown = cross["layers"][0]["windows"]
    assert shown["centre"] == np.asarray(windows.centre)[0].tolist()
    assert shown["aligned"] == [round(float(place), 3) for place in np.asarray(windows.aligned)[0]]
    assert (shown["radius"], shown["deviation"]) == (windows.radius, windows.deviation)

    features, found = features_of("jumps")
    maps = {
        one["name"]: one["layers"][0] for one in explanation_to_json(found, bound=10**7)["maps"]
    }
    threshold = explainer("jumps").hparams.alignment_threshold
    exhibits = explainer("jumps").model.exhibits(features)
    pruned = []
    for row in np.asarray(exhibits["positions"].values)[0]:
        likely = [float(p) >= np.float32(threshold) for p in row]
        pruned += [int(any(likely) and not own) for own in likely]
    assert unpacked(maps["positions"]["pruned"]) == pruned
    assert 0 < sum(pruned) < len(pruned)
    assert maps["positions"]["chosen"] == found.aligned
    length = features["inputs"].shape[1]
    jumps = np.diff([-1, *found.aligned])
    assert maps["jumps"]["chosen"] == [int(jump) + length for jump in jumps]


def test_predicted_labels_have_names():
    features, found = features_of("levels and tags")
    classes = explainer("levels and tags").model.partition_classes(features)
    names = {0: "", 1: "a rare label", 2: "NP", 3: "VP"}
    assert set(classes) == {"level_1", "level_2", "level_3"}
    for name, own in classes.items():
        *expected, _ = [names.get(n, f"label {n}") for n in np.asarray(own)[0].tolist()]
        labels = [segment.label for segment in found.partitions[name]]
        assert labels[-1] == "" and labels[:-1] == expected[: len(labels) - 1]


@pytest.mark.slow
def test_own_translations_are_those_of_the_translator():
    own = explainer("pair")
    # Another one would compile the same once more.
    translator = own._translator
    lines = [SOURCE, "cat"]
    for expected, found in zip(translator.translate(lines), own.explain_all(lines), strict=True):
        assert found.is_own and found.target == expected[0].text
        assert found.candidates == [(each.text, each.score) for each in expected]
        assert len(found.target_tokens) == len(expected[0].ids) == expected[0].tokens
        assert vocabularies().target.decode(list(expected[0].ids)).split() == found.target.split()
        assert found.aligned == list(expected[0].aligned)


def test_what_cannot_be_explained_is_said():
    with pytest.raises(UserError, match="a sentence without words"):
        explainer("transformer").explain(" ")
    # The vocabulary drops the mark of a word's beginning.
    for target in (None, TARGET):
        with pytest.raises(UserError, match="a sentence without words"):
            explainer("transformer").explain("\u2581", target)
    with pytest.raises(UserError, match="alignment model"):
        explainer("alignment head").explain(SOURCE)
    assert not explainer("alignment head").translates and explainer("pair").translates
    with pytest.raises(UserError, match="reads the source feature 'levels'"):
        explainer("levels and tags").explain(SOURCE)


@pytest.mark.slow
def test_cut_sentences_have_a_note():
    own = explainer("transformer")
    short = Explainer(own.model, vocabularies(), own.hparams.replace(max_input_size=3))
    whole = len(vocabularies().source.encode(SOURCE)) + 1
    note = f"source cut to 3 of {whole} tokens (max_input_size)"
    assert explanation_to_json(short.explain(SOURCE), bound=10**7)["notes"] == [note]
    other = len(vocabularies().target.encode(TARGET)) + 1
    assert short.explain(SOURCE, TARGET).notes == [
        note,
        f"target cut to 3 of {other} tokens (max_input_size)",
    ]
    assert list(own.explain(SOURCE, TARGET).notes) == []


def test_own_translations_of_rounded_weights_have_a_note():
    made = explainer("transformer")
    options = DecodeHParams(beam_size=1, extra_length=2, quantize="int8")
    rounded = Explainer(made.model, made.vocabularies, options)
    assert any("without rounding to 8 bits" in note for note in rounded.explain(SOURCE).notes)
    assert not rounded.explain(SOURCE, TARGET).notes


def test_long_sentences_lose_heads_and_then_maps():
    _, found = features_of("mixed")
    whole = explanation_to_json(found, bound=10**7)

    def size(value):
        return sum(len(layer["data"]) for one in value["maps"] for layer in one["layers"])

    less = explanation_to_json(found, bound=size(whole) - 1)
    assert less["left_out"] == ["single heads (means over heads are shown)"]
    assert {head for _, _, head in printed(less)} == {None}
    assert all(one["means"] for one in less["maps"])
    least = explanation_to_json(found, bound=size(less) - 1)
    assert len(least["left_out"]) > 1 and size(least) < size(less)
    assert {one["name"] for one in least["maps"]} < {one["name"] for one in whole["maps"]}


def test_hostile_text_is_explained():
    own = Explainer(explainer("transformer").model, vocabularies())
    text = "<b>\x00 \u202eabc & 🙂🙂"
    found = own.explain(text, text)
    assert not any("\x00" in token.text for token in found.source_tokens)
    assert math.isfinite(float(found.log_probabilities.sum()))


def test_unknown_words_are_translated_by_the_dictionary(tmp_path):
    toy = make_toy_run(tmp_path, words=6)
    options = DecodeHParams(beam_size=2, min_length=5, extra_length=6, replace_unknown=True)
    sources = ["zebras run", "dogs run", "Anna sleeps in the zoo while zebras run", "old unknown"]
    words = {word: word.upper() for word in " ".join(sources).split()}
    tf.config.run_functions_eagerly(True)
    try:
        own = Explainer(toy.model, toy.vocabularies, options, unknown_words=words)
        found = [each.target for each in own.explain_all(sources)]
        translator = Translator(toy.model, toy.vocabularies, options, unknown_words=words)
        expected = [best for best, *_ in translator.translate(sources)]
    finally:
        tf.config.run_functions_eagerly(False)
    assert found == [best.text for best in expected]
    assert any(best.unknown.translated for best in expected)
