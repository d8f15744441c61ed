import os
import subprocess
import sys

import pytest
from toy_run import make_toy_run

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator

OPTIONS = "beam_size=2,extra_length=8"
LINES = ["dogs run", "a house", "it sleeps", "far away", "dogs", "cat", "old dogs", "from here"]


@pytest.mark.slow
def test_cores_share_a_file(tmp_path):
    """The real command, with a core for each part of a batch."""
    toy = make_toy_run(tmp_path / "toy")
    source, target = tmp_path / "in.en", tmp_path / "out.de"
    source.write_text("".join(f"{line}\n" for line in LINES))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "t2t_phrase.bin.decoder", f"--decode_hparams={OPTIONS}"),
            *(*toy.flags, f"--decode_from_file={source}", f"--decode_to_file={target}"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_NUM_INTRAOP_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr
    # Both parts have the same shape.
    assert "; each batch in up to 2 parts; batch shapes compiled: 1)" in done.stderr
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(OPTIONS))
    expected = [found[0].text for found in translator.translate(LINES)]
    assert len(set(expected)) > 3 and target.read_text(encoding="utf-8").splitlines() == expected
