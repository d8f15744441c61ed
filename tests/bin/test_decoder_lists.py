"""Lists of hypotheses by the decoder."""

import json

import numpy as np
import pytest
from absl import app
from toy_run import call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator

LINES = ["the house is old", "", "dogs run", "a cat sleeps in it while dogs run"]
OPTIONS = (
    "beam_size=4,num_groups=2,diversity_strength=0.5,coverage_penalty=0.2,no_repeat_ngram_size=3,"
    "extra_length=4,return_beams=true"
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def expected(toy):
    options = DecodeHParams().override(f"{OPTIONS},token_probabilities=true,write_alignments=true")
    return Translator(toy.model, toy.vocabularies, options).translate(LINES)


def test_lines_of_json_have_what_the_translator_returns(toy, expected, tmp_path):
    source, target, terms = (tmp_path / name for name in ("in", "out", "terms"))
    source.write_text("".join(f"{line}\n" for line in LINES))
    terms.write_text("nothing\tdogs\n")
    call(
        decoder,
        *toy.flags,
        f"--decode_hparams={OPTIONS},write_alignments=true",
        f"--decode_from_file={source}",
        f"--decode_to_file={target}",
        f"--dictionary={terms}",
        "--n_best_format=json",
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "terms"]
    lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    for found, hypotheses in zip(lines, expected, strict=True):
        assert not found["source_cut"]
        assert [each["text"] for each in found["hypotheses"]] == [h.text for h in hypotheses]
        for each, own in zip(found["hypotheses"], hypotheses, strict=True):
            np.testing.assert_allclose(each["score"], own.score, rtol=1e-4)
            np.testing.assert_allclose(
                each["probabilities"], np.exp(own.log_probabilities), rtol=1e-3
            )
            assert each["tokens"] == list(own.pieces)
            assert each["alignment"] == [list(link) for link in own.links]
            assert each["cut"] == own.cut and each["entries_applied"] == 0
            if own.text:
                assert each["confidence"] == pytest.approx(own.confidence, rel=1e-4)


@pytest.mark.parametrize("task", ["--decode_interactive", "--score_file=x"])
def test_json_is_for_translations(task):
    with pytest.raises(app.UsageError, match="--n_best_format=json: cannot be used with --"):
        call(decoder, "--output_dir=none", "--n_best_format=json", task)
