"""Decoding a file that is interrupted, or runs out of memory, and goes on."""

import re

import pytest
from interruption import interrupted_after
from toy_run import call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.sides import EncodedSide
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.io import line_windows as windows

OPTIONS = "beam_size=2,extra_length=8"
SHORT = ["dogs run", "a house", "it sleeps", "far away", "dogs", "cat", "old dogs", "from here"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


def decode(toy, *arguments, options=OPTIONS):
    call(decoder, *toy.flags, f"--decode_hparams={options}", *arguments)


def test_an_interrupted_run_leaves_nothing_half_written(toy, tmp_path, monkeypatch):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("a cat\n")
    target.write_text("from before\n")

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Translator, "batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        decode(toy, f"--decode_from_file={source}", f"--decode_to_file={target}")
    assert target.read_text() == "from before\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.slow
def test_an_interrupted_run_goes_on_with_the_same_batches(toy, tmp_path, monkeypatch, capsys):
    source, target, part = (tmp_path / name for name in ("in", "out", "out.part"))
    source.write_text("".join(f"{line}\n" for line in ["a cat", "", *SHORT]))
    monkeypatch.setattr(windows, "LINES", 6)
    files = [f"--decode_from_file={source}", f"--decode_to_file={target}"]
    # Drawn words show whether each batch has the number that it had.
    options = "sampling_temp=1.0,extra_length=4,batch_size=16"
    decode(toy, *files, options=options)
    whole = target.read_bytes()
    target.unlink()
    with interrupted_after(3, monkeypatch):
        decode(toy, *files, options=options)
    said = capsys.readouterr().err
    assert re.search(rf"stopped: kept \d+ lines in {part}; give the same", said)
    with pytest.raises(UserError, match=r"different settings \(extra_length: 4 -> 5\)"):
        decode(toy, *files, options=options.replace("=4", "=5"))
    with pytest.raises(UserError, match=r"different settings \(dtype_policy: .*bfloat16\)"):
        decode(toy, *files, "--dtype_policy=mixed_bfloat16", options=options)
    with pytest.raises(UserError, match=r"checkpoint: model.ckpt-30 \(step 30\) -> model.ckpt-20"):
        decode(toy, *files, "--checkpoint_path=best", options=options)
    decode(toy, *files, options=options)
    assert re.search(r"out.part: kept \d+ lines of an earlier run\n", capsys.readouterr().err)
    assert target.read_bytes() == whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.slow
def test_after_running_out_of_memory_smaller_batches_go_on(toy, tmp_path, monkeypatch):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(f"{line}\n" for line in SHORT))
    files = [f"--decode_from_file={source}", f"--decode_to_file={target}"]
    decode(toy, *files)
    whole, of_batch, made = target.read_bytes(), EncodedSide.of_batch, []

    def small(self, batch):
        made.append(batch.shape)
        if len(made) == 2:
            raise MemoryError
        return of_batch(self, batch)

    monkeypatch.setattr(EncodedSide, "of_batch", small)
    with pytest.raises(UserError, match=r"a batch of 4 x 8 tokens, lines .*: out of memory") as it:
        decode(toy, *files, options=f"{OPTIONS},batch_size=32")
    assert it.value.exit_code == 3
    decode(toy, *files, options=f"{OPTIONS},batch_size=8")
    assert target.read_bytes() == whole and {rows for rows, _ in made[2:]} == {1}
