"""Translating and exporting with --alignment_model_dir, in this process."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import re
import shutil
from typing import Any

import pytest
import tensorflow as tf
from toy_run import WORDS, ToyRun, call, make_toy_run

from t2t_phrase.bin import decoder, exporter
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.text.alignments.pharaoh import check_range, read_links

OPTIONS = "beam_size=2,max_length=4,alignment_threshold=0.01,alignment_weight=0.5"
LINES = ["the house is old", "", "dogs run"]


@pytest.fixture(scope="module")
def lexical(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    folder = tmp_path_factory.mktemp("lexical")
    return make_toy_run(folder, hparams_set="alignment_assisted_demo")


@pytest.fixture(scope="module")
def alignment(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    return make_toy_run(
        tmp_path_factory.mktemp("alignment"),
        hparams_set="alignment_model_demo",
        shared_embedding_and_softmax_weights=True,
    )


def best_translations(lexical: ToyRun, alignment: ToyRun, options: str) -> list[Any]:
    pair = AlignedPair(lexical.model, alignment.model)
    translator = Translator(
        pair,
        lexical.vocabularies,
        DecodeHParams().override(options),
        make_expansion=functools.partial(alignment_expansion, pair),
    )
    return [found[0] for found in translator.translate(LINES)]


@pytest.fixture(scope="module")
def expected(lexical: ToyRun, alignment: ToyRun) -> list[Any]:
    return best_translations(lexical, alignment, OPTIONS)


def decode(lexical: ToyRun, *arguments: str, options: str = OPTIONS) -> None:
    call(decoder, *lexical.flags, f"--decode_hparams={options}", *arguments)


def test_a_file_is_translated_and_the_positions_are_counted(
    lexical: ToyRun,
    alignment: ToyRun,
    expected: list[Any],
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, target = tmp_path / "in.en", tmp_path / "out.de"
    source.write_text("".join(f"{line}\n" for line in LINES))
    decode(
        lexical,
        f"--alignment_model_dir={alignment.output_dir}",
        f"--decode_from_file={source}",
        f"--decode_to_file={target}",
    )
    assert target.read_text().split("\n") == [*(found.text for found in expected), ""]
    said = capsys.readouterr().err
    assert "(step 30): alignment_assisted_demo" in said
    assert "(step 30): alignment_model_demo" in said
    mean = sum(found.positions for found in expected) / sum(found.tokens for found in expected)
    assert mean >= 1
    line = f"{mean:.2f} source positions evaluated for each target token"
    assert f"{line} (alignment_threshold=0.01)" in said


@pytest.mark.slow
def test_its_positions_are_alignments_at_which_a_dictionary_applies(
    lexical: ToyRun,
    alignment: ToyRun,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, target = tmp_path / "in.en", tmp_path / "out.de"
    source.write_text("".join(f"{line}\n" for line in LINES))
    # Whatever a word is aligned with, something is forced.
    (tmp_path / "dict").write_text("".join(f"{word}\tÜnd x\n" for word in WORDS))
    decode(
        lexical,
        f"--alignment_model_dir={alignment.output_dir}",
        f"--decode_from_file={source}",
        f"--decode_to_file={target}",
        f"--dictionary={tmp_path}/dict",
        options=f"{OPTIONS},extra_length=9,write_alignments=true".replace("max_length=4,", ""),
    )
    texts = target.read_text().split("\n")
    links = (tmp_path / "out.de.align").read_text().split("\n")
    assert "Ünd x" in texts[0] and texts[1] == links[1] == "" and "Ünd x" in texts[2]
    for text, line, words in zip(texts, links, LINES, strict=False):
        pairs = [tuple(map(int, link.split("-"))) for link in line.split()]
        assert all(s < len(words.split()) and t < len(text.split()) for s, t in pairs)
        begun = text.split().index("Ünd") if text else None
        # Its alignment is that which the entry applied at.
        assert begun is None or begun in [t for _, t in pairs]
    assert re.search(r"[1-9]\d* of them applied", capsys.readouterr().err)


@pytest.mark.slow
def test_given_translations_are_aligned_by_the_search(
    lexical: ToyRun, alignment: ToyRun, tmp_path: pathlib.Path
) -> None:
    pairs = [("the house is old", "a cat"), ("", "dogs"), ("dogs run", "")]
    (tmp_path / "pairs").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    files = [f"--score_file={tmp_path}/pairs", f"--decode_to_file={tmp_path}/scores"]
    second = f"--alignment_model_dir={alignment.output_dir}"
    decode(lexical, *files, second, options=f"{OPTIONS},write_alignments=true")
    scores = (tmp_path / "scores").read_text().split()
    assert len(scores) == 3 and all(0 < float(score) < 1000 for score in scores)
    links = (tmp_path / "scores.align").read_text().split("\n")
    check_range(read_links(links[0]).sure, 4, 2)
    assert links[0] and links[1:] == ["", "", ""]
    with pytest.raises(UserError, match=r"alignment_heads=\[1\]: has no effect with --alignment_m"):
        decode(lexical, *files, second, options="write_alignments=true,alignment_heads=[1]")


def test_links_do_not_replace_those_that_the_model_reads(
    lexical: ToyRun, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "pairs.tsv").write_text("dogs run\ta cat\n")
    (tmp_path / "pairs.target.align").write_text("0-0\n")
    files = [f"--score_file={tmp_path}/pairs.tsv", f"--decode_to_file={tmp_path}/pairs.target"]
    with pytest.raises(UserError, match=r"pairs\.target\.align would overwrite the input"):
        decode(lexical, *files, options="write_alignments=true")


@pytest.mark.slow
def test_both_models_are_in_the_saved_model(
    lexical: ToyRun, alignment: ToyRun, tmp_path: pathlib.Path
) -> None:
    options = OPTIONS.replace("max_length=4", "max_length=12")  # room for the terms and the prefix
    expected = best_translations(lexical, alignment, options)
    call(
        exporter,
        *lexical.flags,
        f"--decode_hparams={options}",
        f"--alignment_model_dir={alignment.output_dir}",
        f"--export_dir={tmp_path}",
    )
    loaded = tf.saved_model.load(str(tmp_path / "1"))
    names = ["nbest", "serving_default", "translate_with_constraints", "translate_with_dictionary"]
    assert sorted(loaded.signatures) == names
    required = loaded.signatures["translate_with_constraints"](
        text=tf.constant(LINES),
        dictionary=tf.constant(["", "", "dogs\tsun\nrun\told"]),
        prefix=tf.constant(["", "", "the ho"]),
    )
    assert required["applied"].numpy().tolist() == [0, 0, 2]
    words = required["translation"].numpy()[2].decode()
    assert "sun" in words and "old" in words and words.startswith("the ho")
    guided = loaded.signatures["translate_with_dictionary"](
        text=tf.constant(LINES), dictionary=tf.constant(["", "", "dogs\tÜnd\nrun\tÜnd"])
    )
    assert guided["matched"].numpy().tolist() == [0, 0, 2]
    links = [text.decode() for text in guided["alignment"].numpy()]
    assert links[0] and not links[1]
    check_range(read_links(links[0]).sure, 4, len(guided["translation"].numpy()[0].split()))
    assert guided["translation"].numpy()[0].decode() == expected[0].text
    found = loaded.signatures["serving_default"](text=tf.constant(LINES))
    texts = [text.decode() for text in found["translation"].numpy()]
    assert texts == [one.text for one in expected]
    scores = [one.score for one in expected]
    assert found["score"].numpy().tolist() == pytest.approx(scores, abs=1e-3)
    about = json.loads((tmp_path / "1" / "assets.extra" / "export.json").read_text())
    assert about["alignment_checkpoint"].endswith("run/model.ckpt-30")


def refused(lexical: ToyRun, *arguments: str, options: str = OPTIONS) -> str:
    with pytest.raises(UserError) as caught:
        decode(lexical, *arguments, options=options)
    return str(caught.value)


def test_models_that_do_not_belong_together(
    lexical: ToyRun, alignment: ToyRun, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "in"
    source.write_text("dogs run\n")
    given = f"--decode_from_file={source}"
    second = f"--alignment_model_dir={alignment.output_dir}"
    assert "translates only together with an alignment model" in refused(lexical, given, options="")
    assert "predicts positions, not words" in refused(alignment, given, options="")
    wrong = refused(lexical, given, f"--alignment_model_dir={lexical.output_dir}")
    assert "alignment_assisted_transformer is not an alignment model" in wrong
    swapped = refused(alignment, given, f"--alignment_model_dir={lexical.output_dir}")
    for message in (swapped, refused(alignment, given, second)):
        assert "is an alignment model and belongs in --alignment_model_dir" in message
    missing = refused(lexical, given, f"--alignment_model_dir={tmp_path}/nowhere")
    assert "nowhere" in missing
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": "0" * 64}, r"vocabularies differ from .*read the same ids.*checksum"),
        (
            {"problem": "translate_toy_rev"},
            r"trained on translate_toy_rev, from de to en, but .* translates from en to de",
        ),
    ],
)
def test_a_model_of_other_texts_is_refused(
    lexical: ToyRun,
    alignment: ToyRun,
    changes: dict[str, Any],
    message: str,
    tmp_path: pathlib.Path,
) -> None:
    folder = tmp_path / "other"
    shutil.copytree(alignment.output_dir, folder)
    dataclasses.replace(RunRecord.load(folder), **changes).save(folder)
    source = tmp_path / "in"
    source.write_text("dogs run\n")
    said = refused(lexical, f"--decode_from_file={source}", f"--alignment_model_dir={folder}")
    assert re.search(message, said), said


def test_layers_of_an_attention_that_decides_nothing(
    lexical: ToyRun, alignment: ToyRun, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "in"
    source.write_text("dogs run\n")
    said = refused(
        lexical,
        f"--decode_from_file={source}",
        f"--alignment_model_dir={alignment.output_dir}",
        options="write_alignments=true,alignment_layers=[1]",
    )
    assert said.startswith("alignment_layers=[1]: has no effect with --alignment_model_dir")


def test_options_that_nothing_would_read(tmp_path: pathlib.Path, lexical: ToyRun) -> None:
    plain = make_toy_run(tmp_path / "plain", hparams_set="transformer_tiny")
    source = tmp_path / "in"
    source.write_text("dogs run\n")
    said = refused(plain, f"--decode_from_file={source}", options="alignment_threshold=0.3")
    assert said == "alignment_threshold=0.3: is only used with --alignment_model_dir"
