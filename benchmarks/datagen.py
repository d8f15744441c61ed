"""Speed of data generation, compared with SentencePiece encoding in one process.

    python benchmarks/datagen.py [--pairs=50000]

Generates the grammar corpus as text once, untimed, then times the generation of data from these
files: reading, checking, the vocabulary, encoding, shards, checksums. The baseline
only encodes the same lines, held in memory, with the same vocabulary.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import time

from measure import report
from script import run_script


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    from t2t_phrase import grammar
    from t2t_phrase.data.generation.generate import generate
    from t2t_phrase.data.generation.options import GenerateOptions
    from t2t_phrase.data.problem import get_problem

    with tempfile.TemporaryDirectory() as temporary:
        raw = pathlib.Path(temporary) / "raw"
        raw.mkdir()
        for split, size in (("train", args.pairs), ("dev", 200)):
            pairs = list(grammar.generate(split, size))
            for suffix, side in (("src", "source"), ("tgt", "target")):
                lines = "".join(getattr(pair, side) + "\n" for pair in pairs)
                (raw / f"{split}.{suffix}").write_text(lines, encoding="utf-8")
        problem = get_problem("translate_text")
        whole, bare = [], []
        for number in range(args.repeats):
            data = f"{temporary}/data{number}"
            start = time.perf_counter()
            options = GenerateOptions(vocab_size=4000)
            generate(problem, data, str(raw), options=options, log=lambda line: None)
            whole.append(time.perf_counter() - start)
            encoder = problem.vocabularies(data).source
            texts = [(raw / f"train.{s}").read_text().splitlines() for s in ("src", "tgt")]
            start = time.perf_counter()
            for text in texts:
                for line in text:
                    encoder.encode(line)
            bare.append(time.perf_counter() - start)
        whole_seconds, bare_seconds = sorted(whole)[len(whole) // 2], sorted(bare)[len(bare) // 2]
        report(
            benchmark="datagen",
            pairs=args.pairs,
            pairs_per_second=round(args.pairs / whole_seconds),
            encoding_alone_pairs_per_second=round(args.pairs / bare_seconds),
            ratio=round(bare_seconds / whole_seconds, 3),
        )


if __name__ == "__main__":
    run_script(main)
