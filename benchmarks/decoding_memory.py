"""The memory of decoding: the peak of t2t-phrase-decoder for many lines, and for one long line.

    python benchmarks/decoding_memory.py --lines=1000000
    python benchmarks/decoding_memory.py --long=1024,4096
    python benchmarks/decoding_memory.py --long=1024 \\
        --hparams_sets=phrase_heterogeneous_queryk_1_2_3_4

--lines translates a file of that many short lines, and one of a tenth as many, with a tiny model:
memory that grows with the file shows as a difference. --long translates one line of that many
tokens with each set and a beam of 4, into a translation of at least as many tokens. Weights are
random, since memory does not depend on them. Every command runs in a separate process, whose peak
resident memory the system reports when it ends. With --work_dir, the folder and its runs are kept.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence

from memory import WORDS, write_corpus
from script import run_script

from t2t_phrase.config import UserError

TINY = ("transformer_tiny", "num_hidden_layers=1,hidden_size=32,filter_size=64,num_heads=2")
# For the models of long lines, as large as in published ones: embedding and logits count too.
VOCAB_SIZE = 32_000
BEAM = 4
DATA, PROBLEM = "data", "translate_text"


def make_data(folder: pathlib.Path) -> None:
    """Generate data of a small random corpus, whose words are one token each."""
    from t2t_phrase import registry
    from t2t_phrase.bin.common import load_tensorflow

    load_tensorflow()
    from t2t_phrase.data.generation.generate import generate
    from t2t_phrase.data.problem import get_problem

    registry.discover()
    write_corpus(folder / "corpus")
    generate(
        get_problem(PROBLEM), str(folder / DATA), str(folder / "corpus"), log=lambda text: None
    )


def make_run(run: pathlib.Path, hparams_set: str, overrides: str, least_vocab_size: int) -> None:
    """Write a run with a checkpoint of random weights.

    Args:
        run: its folder, beside the data folder.
        hparams_set: its hyperparameters.
        overrides: as for the trainer.
        least_vocab_size: least size of the model's vocabulary; entries not in the data lack text.
    """
    from t2t_phrase import registry
    from t2t_phrase.bin.common import load_tensorflow

    load_tensorflow()
    import keras

    from t2t_phrase.data.problem import get_problem
    from t2t_phrase.runs import checkpoints
    from t2t_phrase.runs.record import RunRecord, resolve_hparams
    from t2t_phrase.runs.vocabulary import checksums

    registry.discover()
    hparams, _ = resolve_hparams(hparams_set, overrides)
    keras.utils.set_random_seed(1)
    vocabularies = get_problem(PROBLEM).vocabularies(str(run.parent / DATA))
    vocab_size = max(least_vocab_size, vocabularies.source.vocab_size)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=vocab_size)
    run.mkdir(exist_ok=True)
    RunRecord(
        problem=PROBLEM,
        model=hparams.model,
        hparams_set=hparams_set,
        overrides=overrides,
        hparams=hparams.to_dict(),
        vocab_size=vocab_size,
        vocabulary=checksums(vocabularies)[0],
        random_seed=1,
    ).save(run)
    checkpoints.write(run / "model.ckpt-1", model=checkpoints.model_variables(model), step=1)


def apart(function: Callable[..., None], *arguments: object) -> None:
    """Call a function in a new process.

    Otherwise, the memory of this process would count towards the peak of the commands it starts.
    """
    process = multiprocessing.get_context("spawn").Process(target=told, args=(function, *arguments))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(1)


def told(function: Callable[..., None], *arguments: object) -> None:
    """Call a function; report a user's mistake in one line."""
    try:
        function(*arguments)
    except UserError as error:
        sys.exit(f"error: {error}")


def peak_of(command: Sequence[str]) -> int:
    """Run a command and return its peak resident memory in bytes.

    Raises:
        SystemExit: the command failed; the message has the last lines of its output.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            tail = said.read().decode(errors="replace").splitlines()[-5:]
            sys.exit("\n".join([f"{command[2]} ended with code {process.returncode}:", *tail]))
    # Linux counts KiB, macOS bytes.
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def decode(run: pathlib.Path, lines: Iterable[str], hparams: str) -> int:
    """Translate lines with a run; return the peak memory of the command in bytes."""
    source, target = (run.with_name(f"{run.name}-{kind}") for kind in ("source", "translation"))
    for path in (target, target.with_name(f"{target.name}.part")):
        path.unlink(missing_ok=True)
    with source.open("w") as file:
        file.writelines(f"{line}\n" for line in lines)
    flags = {
        "output_dir": run,
        "data_dir": run.parent / DATA,
        "decode_from_file": source,
        "decode_to_file": target,
        "decode_hparams": hparams,
    }
    module = [sys.executable, "-m", "t2t_phrase.bin.decoder"]
    return peak_of([*module, *(f"--{flag}={value}" for flag, value in flags.items())])


def short_lines(count: int) -> Iterable[str]:
    """Yield random lines of 1 to 12 words."""
    draw = random.Random(1)
    for _ in range(count):
        yield " ".join(draw.choices(WORDS, k=draw.randint(1, 12)))


def long_line(tokens: int) -> str:
    """Return a line of `tokens` tokens, EOS included."""
    return " ".join(random.Random(1).choices(WORDS, k=tokens - 1))


def report(peak: int, **values: object) -> None:
    """Print one line of JSON."""
    print(json.dumps({**values, "peak_mib": round(peak / 2**20, 1)}), flush=True)


def prepared(
    folder: pathlib.Path, hparams_set: str, overrides: str = "", least: int = 0
) -> pathlib.Path:
    """Return the folder of a run in a folder with data; missing parts are made first."""
    if not (folder / DATA / f"{PROBLEM}-manifest.json").exists():
        apart(make_data, folder)
    run = folder / f"{hparams_set}-{least}"
    if not (run / "model.ckpt-1.index").exists():
        apart(make_run, run, hparams_set, overrides, least)
    return run


def measure_lines(folder: pathlib.Path, count: int) -> None:
    """Report the peak for a tenth of `count` short lines, and for all."""
    run = prepared(folder, *TINY)
    for lines in dict.fromkeys((max(1, count // 10), count)):
        peak = decode(run, short_lines(lines), f"beam_size={BEAM},extra_length=4")
        report(peak, hparams_set=TINY[0], lines=lines)


def measure_long(folder: pathlib.Path, lengths: Sequence[int], hparams_set: str) -> None:
    """Report the peak for one line of each length."""
    run = prepared(folder, hparams_set, least=VOCAB_SIZE)
    for tokens in lengths:
        options = f"beam_size={BEAM},max_input_size={tokens},min_length={tokens}"
        report(decode(run, [long_line(tokens)], options), hparams_set=hparams_set, tokens=tokens)


def main() -> None:
    """Print the peak of each command as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=0, help="number of short lines")
    parser.add_argument(
        "--long", default="", help="lengths of long lines in tokens, such as 1024,4096"
    )
    parser.add_argument("--hparams_sets", default="transformer_base", help="models for --long")
    parser.add_argument("--work_dir", default="", help="folder to keep; default: a temporary one")
    args = parser.parse_args()
    lengths = [int(tokens) for tokens in args.long.split(",") if tokens]
    if not (args.lines or lengths):
        parser.error("nothing to measure: give --lines, --long, or both")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.work_dir or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if args.lines:
            measure_lines(folder, args.lines)
        for name in args.hparams_sets.split(",") if lengths else ():
            measure_long(folder, lengths, name)


if __name__ == "__main__":
    run_script(main)
