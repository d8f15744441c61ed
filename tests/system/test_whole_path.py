"""The commands in the order in which a user runs them, on a small corpus."""

import pathlib
import re
import subprocess
import sys

import forked
import pytest

from t2t_phrase.bin import demo

LETTERS = "abcdefghijklmnop"


def command(folder: pathlib.Path, name: str, *flags: str) -> str:
    ended = forked.run(name, flags, folder)
    assert ended.code == 0, ended.out + ended.err
    return ended.out + ended.err


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> pathlib.Path:
    """A folder with a corpus whose target is the source in upper case."""
    folder = tmp_path_factory.mktemp("whole_path")
    raw = folder / "raw"
    raw.mkdir()
    for split, count in (("train", 400), ("dev", 8), ("test", 8)):
        lines = [
            " ".join(LETTERS[(i * 7 + j * (i % 5 + 1)) % 16] * 2 for j in range(3 + i % 4))
            for i in range(count)
        ]
        (raw / f"{split}.src").write_text("\n".join(lines) + "\n")
        (raw / f"{split}.tgt").write_text("\n".join(line.upper() for line in lines) + "\n")
    return folder


@pytest.mark.slow
def test_from_raw_text_to_a_served_model(work):
    data, run = f"--data_dir={work / 'data'}", f"--output_dir={work / 'run'}"
    problem = "--problem=translate_text"
    said = command(work, "datagen", problem, data, f"--tmp_dir={work / 'raw'}", "--vocab_size=320")
    assert "400 pairs" in said
    said = command(
        work,
        "trainer",
        problem,
        data,
        run,
        "--hparams_set=transformer_tiny",
        "--hparams=num_hidden_layers=1,hidden_size=16,filter_size=32,num_heads=2,batch_size=512",
        "--train_steps=8",
        "--local_eval_frequency=4",
        "--decode_hparams=extra_length=4",
    )
    assert "BLEU" in said and "tok:13a" in said and "finished at step 8" in said
    averaged = f"--output_dir={work / 'averaged'}"
    command(work, "avg", run, "--num_last_checkpoints=2", f"--output_path={work / 'averaged'}")

    source, target = work / "data/translate_text-test.src", work / "data/translate_text-test.tgt"
    output = work / "out.txt"
    options = "--decode_hparams=beam_size=2,extra_length=4"
    command(
        work,
        "decoder",
        data,
        averaged,
        options,
        f"--decode_from_file={source}",
        f"--decode_to_file={output}",
    )
    assert len(output.read_text().split("\n")) == len(source.read_text().split("\n"))
    assert "nrefs:1" in command(work, "eval", f"--translation={output}", f"--reference={target}")

    command(work, "exporter", data, averaged, options, f"--export_dir={work / 'served'}")
    (version,) = (work / "served").iterdir()
    client = (
        "import sys, tensorflow as tf, tensorflow_text\n"
        "model = tf.saved_model.load(sys.argv[1]).signatures['serving_default']\n"
        "lines = open(sys.argv[2], encoding='utf-8').read().split('\\n')[:-1]\n"
        "outputs = model(tf.constant(lines))\n"
        "text = next(v for v in outputs.values() if v.dtype == tf.string)\n"
        "print('\\n'.join(t.decode() for t in text.numpy()))\n"
    )
    served = subprocess.run(
        [sys.executable, "-c", client, str(version), str(source)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert served.stdout == output.read_text()


@pytest.mark.slow
def test_the_demo_reaches_80_bleu(tmp_path):
    said = command(tmp_path / "work", "demo", f"--work_dir={tmp_path / 'work'}")
    bleu = float(re.search(r"^BLEU = (\S+)", said, flags=re.M)[1])
    assert bleu >= 80
    sizes = demo.commands(tmp_path, hparams_set="s", hparams="", train_steps=10)
    assert [name for name, *_ in sizes] == ["datagen", "trainer", "decoder", "eval"]
