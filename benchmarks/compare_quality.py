"""Trains several hparams sets by one recipe and writes how well they translate.

    python benchmarks/compare_quality.py --problem=translate_ende_multi30k --data_dir=data \\
        --work_dir=runs/compare --train_steps=2000 --hparams=batch_size=2048 \\
        --sets=transformer_multi30k,phrase_heterogeneous_convkv_1_2_multi30k [--seeds=1234,1235]

The first set is the baseline that the others are held against, seed by seed. Every step is one of
the commands, printed before it runs. What is finished is not done again, so the script can be
killed and started anew, and given more sets or seeds later. The table goes to WORK_DIR/table.md and
WORK_DIR/table.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys

import quality_table

from t2t_phrase import registry
from t2t_phrase.config import UserError


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What all sets have in common."""

    problem: str
    data_dir: pathlib.Path
    work_dir: pathlib.Path
    train_steps: int
    hparams: str
    num_last_checkpoints: int
    decode_hparams: str

    def commands(self, name: str, seed: object) -> dict[str, list[str]]:
        """Return the flags of every command of one set and seed, in order."""
        run, averaged = self.place(name, seed), self.place(name, seed, "-averaged")
        return {
            "trainer": [
                f"--problem={self.problem}",
                f"--hparams_set={name}",
                f"--hparams={self.hparams}",
                f"--data_dir={self.data_dir}",
                f"--output_dir={run}",
                f"--train_steps={self.train_steps}",
                "--schedule=train",
                f"--local_eval_frequency={max(1, self.train_steps // 20)}",
                f"--random_seed={seed}",
            ],
            "avg": [
                f"--output_dir={run}",
                f"--num_last_checkpoints={self.num_last_checkpoints}",
                f"--output_path={averaged}",
            ],
            "decoder": self.decode(averaged, self.source(), self.translation(name, seed)),
        }

    def decode(
        self, averaged: pathlib.Path, source: pathlib.Path, target: pathlib.Path
    ) -> list[str]:
        """Return the flags that translate a file."""
        return [
            f"--output_dir={averaged}",
            f"--data_dir={self.data_dir}",
            f"--decode_hparams={self.decode_hparams}",
            f"--decode_from_file={source}",
            f"--decode_to_file={target}",
        ]

    def place(self, name: str, seed: object, ending: str = "") -> pathlib.Path:
        """Return where something of a set and seed lies."""
        return self.work_dir / f"{name}-{seed}{ending}"

    def source(self) -> pathlib.Path:
        """Return the source side of the test set."""
        problem = self.loaded()
        return self.data_dir / f"{problem.base_name}-test.{problem.source_language}"

    def translation(self, name: str, seed: object) -> pathlib.Path:
        """Return where the translated test set lies."""
        return self.place(name, seed, f".test.{self.loaded().target_language}")

    def loaded(self):
        """Return the problem itself."""
        from t2t_phrase.data.problem import get_problem

        return get_problem(self.problem)

    def has_trained(self, name: str, seed: int) -> bool:
        """Return whether a run reached its last step under this very recipe."""
        from t2t_phrase.training.run_record import FILE, RunRecord, resolve_hparams

        run = self.place(name, seed)
        last = run / f"model.ckpt-{self.train_steps}.index"
        if not last.exists() or not (run / FILE).exists():
            return False
        record = RunRecord.load(run)
        named = (record.problem, record.hparams_set, record.random_seed)
        same = record.resolved() == resolve_hparams(name, self.hparams)[0]
        return same and named == (self.problem, name, seed)


class Steps:
    """Runs commands, each once: what was made by the same flags from the same inputs stays."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def make(
        self,
        module: str,
        flags: list[str],
        *,
        made: pathlib.Path,
        source: pathlib.Path,
        log: pathlib.Path,
    ) -> None:
        """Run a command unless `made` is there, newer than `source` and made by the same flags."""
        stamp = made.with_name(f"{made.name}.flags")
        if made.exists() and stamp.exists() and stamp.read_text() == "\n".join(flags):
            marker = made / "checkpoint" if made.is_dir() else made
            if marker.stat().st_mtime >= source.stat().st_mtime:
                return
        self.run(module, flags, log)
        stamp.write_text("\n".join(flags))

    def run(self, module: str, flags: list[str], log: pathlib.Path) -> None:
        """Run a command, its output in `log`.

        Raises:
            UserError: it failed; its last lines are in the message.
            SystemExit: a signal ended it, so nothing else is started.
        """
        print(f"$ t2t-phrase-{module} {shlex.join(flags)}", flush=True)
        command = [sys.executable, "-m", f"t2t_phrase.bin.{module}", *flags]
        with log.open("a") as file:
            status = subprocess.call(command, stdout=file, stderr=subprocess.STDOUT)
        if status < 0 or status >= 128:
            sys.exit(f"a signal ended it (status {status}); start the same command to go on")
        if status:
            tail = "\n".join(f"    {line}" for line in log.read_text().splitlines()[-5:])
            raise UserError(f"t2t-phrase-{module} failed, see {log}:\n{tail}")


def finish(recipe: Recipe, name: str, seed: int, *, train: bool) -> bool:
    """Bring one run to its translation; returns whether it is there.

    Args:
        train: whether what has not been trained to its end is trained; else it is left alone.
    """
    steps = Steps(recipe.work_dir)
    commands = recipe.commands(name, seed)
    run, log = recipe.place(name, seed), recipe.place(name, seed, ".log")
    if not recipe.has_trained(name, seed):
        if not train:
            return False
        steps.run("trainer", commands["trainer"], log)
    averaged = recipe.place(name, seed, "-averaged")
    last = run / f"model.ckpt-{recipe.train_steps}.index"
    steps.make("avg", commands["avg"], made=averaged, source=last, log=log)
    steps.make(
        "decoder",
        commands["decoder"],
        made=recipe.translation(name, seed),
        source=averaged / "checkpoint",
        log=log,
    )
    return True


def count_parameters(folder: pathlib.Path) -> int:
    """Return the number of weights in a folder's (averaged) checkpoint."""
    from t2t_phrase.training import checkpoints

    tensors = checkpoints.read_tensors(checkpoints.resolve(folder))
    return sum(int(tensor.size) for tensor in tensors.values())


def measure(
    recipe: Recipe, done: list[tuple[str, int]], baseline: str
) -> tuple[list[quality_table.Run], str]:
    """Score the finished runs, and compare each with the baseline of its seed.

    Returns:
        (the runs, the signature of their BLEU).
    """
    from t2t_phrase.evaluation.bleu import corpus_bleu
    from t2t_phrase.evaluation.significance import paired_bootstrap
    from t2t_phrase.evaluation.text_files import read_text

    references = recipe.loaded().raw_references(str(recipe.data_dir), "test")
    texts = {key: read_text(str(recipe.translation(*key))) for key in done}
    runs, signature = [], ""
    for (name, seed), text in texts.items():
        score = corpus_bleu(text, references)
        signature, p_value = score.signature, None
        other = texts.get((baseline, seed))
        if name != baseline and other is not None:
            p_value = paired_bootstrap(text, other, references)[0].p_value
        parameters = count_parameters(recipe.place(name, seed, "-averaged"))
        runs.append(quality_table.Run(name, seed, parameters, score.value, p_value))
    return runs, signature


def report(recipe: Recipe, done: list[tuple[str, int]], sets: list[str]) -> None:
    """Print and write the table."""
    runs, signature = measure(recipe, done, sets[0])
    table = quality_table.rows(runs, sets[0])
    seeds = list(dict.fromkeys(seed for _, seed in done))
    commands = [
        f"t2t-phrase-{module} {shlex.join(flags)}"
        for module, flags in recipe.commands("SET", "SEED").items()
    ]
    notes = [
        f"`{recipe.problem}`, test set, BLEU `{signature}`.",
        f"{recipe.train_steps} updates, `{recipe.hparams or 'no changes to the sets'}`; average of "
        f"the last {recipe.num_last_checkpoints} checkpoints, `{recipe.decode_hparams}`; "
        f"seeds {', '.join(map(str, seeds))}.",
    ]
    if len(table) > 1:
        notes.append(
            f"difference and p: against `{sets[0]}` of the same seed, p by paired bootstrap."
        )
    if any(row.spread is not None for row in table):
        notes.append("spread: standard deviation over the seeds.")
    text = "\n".join(
        [
            quality_table.markdown(table),
            "",
            *notes,
            "",
            "```",
            *commands,
            "```",
            "",
        ]
    )
    described = {key: str(value) for key, value in dataclasses.asdict(recipe).items()}
    content = {
        "recipe": described,
        "seeds": seeds,
        "signature": signature,
        "commands": commands,
        "rows": quality_table.as_json(table),
    }
    recipe.work_dir.mkdir(parents=True, exist_ok=True)
    (recipe.work_dir / "table.md").write_text(text, encoding="utf-8")
    (recipe.work_dir / "table.json").write_text(json.dumps(content, indent=2) + "\n")
    print(f"\n{text}\nwritten to {recipe.work_dir / 'table.md'} and table.json")


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    description, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=rest, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--problem", required=True)
    parser.add_argument("--data_dir", required=True, help="where t2t-phrase-datagen put it")
    parser.add_argument("--work_dir", required=True, help="folder of all that is written")
    parser.add_argument("--sets", required=True, help="hparams sets, the baseline first: a,b,c")
    parser.add_argument("--train_steps", type=int, required=True)
    parser.add_argument("--seeds", default="1234", help="random seeds: 1234,1235")
    parser.add_argument("--hparams", default="", help="changes to every set, as the trainer's")
    parser.add_argument("--num_last_checkpoints", type=int, default=5, help="to average")
    parser.add_argument("--decode_hparams", default="beam_size=5")
    parser.add_argument(
        "--report_only", action="store_true", help="train nothing: report what is trained"
    )
    return parser.parse_args(argv)


def main() -> int:
    args = parse()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    registry.discover()
    sets = args.sets.split(",")
    seeds = [int(seed) for seed in args.seeds.split(",")]
    recipe = Recipe(
        problem=args.problem,
        data_dir=pathlib.Path(args.data_dir).expanduser(),
        work_dir=pathlib.Path(args.work_dir).expanduser(),
        train_steps=args.train_steps,
        hparams=args.hparams,
        num_last_checkpoints=args.num_last_checkpoints,
        decode_hparams=args.decode_hparams,
    )
    recipe.loaded().record_files(str(recipe.data_dir), "train")
    for name in sets:
        # A wrong name or change is known before hours of training.
        registry.hparams[name]().override(args.hparams)
    recipe.work_dir.mkdir(parents=True, exist_ok=True)
    done, failed = [], []
    # Seeds outside: with every seed, all sets can be compared.
    for seed in seeds:
        for name in sets:
            try:
                if finish(recipe, name, seed, train=not args.report_only):
                    done.append((name, seed))
                else:
                    print(f"not trained to step {recipe.train_steps} yet: {name}-{seed}")
            except UserError as error:
                print(f"error: {error}", file=sys.stderr)
                failed.append(f"{name}-{seed}")
    if done:
        done.sort(key=lambda run: (sets.index(run[0]), seeds.index(run[1])))
        report(recipe, done, sets)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed or not done else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as problem:
        sys.exit(f"error: {problem}")
