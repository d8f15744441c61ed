"""The commands that write files, each with what it starts from and what it leaves behind.

A new command that writes is one more entry of `CASES`: it is then killed at every change that it
makes, its writes fail, and what it reads is damaged.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
from collections.abc import Callable

import forked
import pytest
from t2t_checkpoint import make_checkpoint

PROBLEM = "--problem=translate_text"
DATA = ("--data_dir={folder}/data", PROBLEM)
DATAGEN = (*DATA, "--tmp_dir={folder}/raw", "--vocab_size=320", "--num_shards=3")
SIZES = (
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,batch_size=64,max_length=16,"
    "length_bucket_step=1.5"
)
TRAIN = (
    *DATA,
    "--output_dir={folder}/run",
    "--hparams_set=transformer_tiny",
    f"--hparams={SIZES}",
    "--local_eval_frequency=2",
    "--noeval_run_autoregressive",
    "--report=",
)
RUN = ("--data_dir={folder}/data", "--output_dir={folder}/run")
SHORT = "--decode_hparams=beam_size=2,extra_length=2,batch_size=40"
IMPORTED = "--hparams=hidden_size=8,filter_size=12,num_heads=2,num_hidden_layers=2"
# What they leave differs from run to run: times, and a graph with random names.
VARYING = re.compile(
    r"events\.out\.tfevents|-lock$|saved_model\.pb$|fingerprint\.pb$"
    r"|run/(averaged/)?(commands\.json|train\.log)$"
)


def _nothing(folder: pathlib.Path) -> None:
    del folder


def _delete_shard(folder: pathlib.Path) -> None:
    next((folder / "data").glob("*-train-00001-of-*")).unlink()


def _unmake_shards(folder: pathlib.Path) -> None:
    """Leave what `--only_vocabulary` leaves, without the text for the tasks."""
    path = folder / "data" / "translate_text-manifest.json"
    manifest = json.loads(path.read_text())
    for split in manifest["splits"].values():
        split["shards"] = [None] * len(split["shards"])
    path.write_text(json.dumps({**manifest, "complete": False, "released": False}))
    for shard in (folder / "data").glob("translate_text-*-of-*"):
        shard.unlink()


def _make_tasks(folder: pathlib.Path) -> None:
    """Leave what all tasks leave."""
    _unmake_shards(folder)
    for task in range(2):
        flags = [flag.format(folder=folder) for flag in DATAGEN]
        made = [*flags, f"--task_id={task}", "--num_tasks=2"]
        assert forked.run("datagen", made, folder).code == 0


def _add_trees(folder: pathlib.Path) -> None:
    for text in list((folder / "raw").glob("*.src")):
        trees = (
            "(S " + " ".join(f"(X{len(word)} {word})" for word in line.split()) + ")\n"
            for line in text.read_text().splitlines()
        )
        text.with_name(f"{text.name}.trees").write_text("".join(trees))


def _add_links(folder: pathlib.Path) -> None:
    lines = (folder / "raw" / "test.src").read_text().splitlines()
    (folder / "links").write_text("0-0 1-1 2-2\n" * len(lines))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A command in a folder that was prepared for it.

    Attributes:
        name: what it does.
        command: its module in `t2t_phrase.bin`.
        flags: of the command, with `{folder}` where it works.
        starts_from: what of the world lies in that folder.
        spoil: changes the folder first.
        setup: see `forked.run`.
        quick: whether it takes a second or so.
    """

    name: str
    command: str
    flags: tuple[str, ...]
    starts_from: tuple[str, ...]
    spoil: Callable[[pathlib.Path], None] = _nothing
    setup: str = ""
    quick: bool = True

    def prepare(self, world: pathlib.Path, folder: pathlib.Path) -> None:
        """Make the folder that the command starts from."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in self.starts_from:
            source = world / name
            if source.is_dir():
                shutil.copytree(source, folder / name)
            else:
                shutil.copy2(source, folder / name)
        self.spoil(folder)

    def run(self, folder: pathlib.Path, fault: forked.Fault = forked.Fault()) -> forked.Ended:  # noqa: B008
        """Run the command in its folder."""
        flags = [flag.format(folder=folder) for flag in self.flags]
        return forked.run(self.command, flags, folder, fault=fault, setup=self.setup)


CASES = (
    Case(name="data", command="datagen", flags=DATAGEN, starts_from=("raw",)),
    Case(
        name="data_with_trees",
        command="datagen",
        flags=DATAGEN,
        starts_from=("raw",),
        spoil=_add_trees,
        quick=False,
    ),
    Case(
        name="repair",
        command="datagen",
        flags=DATAGEN,
        starts_from=("raw", "data"),
        spoil=_delete_shard,
        quick=False,
    ),
    Case(
        name="task",
        command="datagen",
        flags=(*DATAGEN, "--task_id=1", "--num_tasks=2"),
        starts_from=("raw", "data"),
        spoil=_unmake_shards,
        quick=False,
    ),
    Case(
        name="merge",
        command="datagen",
        flags=DATAGEN,
        starts_from=("raw", "data"),
        spoil=_make_tasks,
        quick=False,
    ),
    Case(
        name="training",
        command="trainer",
        flags=(*TRAIN, "--train_steps=4"),
        starts_from=("data",),
        quick=False,
    ),
    Case(
        name="resumed",
        command="trainer",
        flags=(*TRAIN, "--train_steps=6"),
        starts_from=("data", "run"),
        quick=False,
    ),
    Case(
        name="average",
        command="avg",
        flags=("--output_dir={folder}/run", "--num_last_checkpoints=2"),
        starts_from=("run",),
    ),
    Case(
        name="export",
        command="exporter",
        flags=(*RUN, SHORT, "--export_dir={folder}/served"),
        starts_from=("data", "run"),
        quick=False,
    ),
    Case(
        name="translations",
        command="decoder",
        flags=(
            *RUN,
            SHORT,
            "--decode_from_file={folder}/text",
            "--decode_to_file={folder}/translations",
        ),
        starts_from=("data", "run", "text"),
        quick=False,
    ),
    Case(
        name="alignments",
        command="decoder",
        flags=(
            *RUN,
            f"{SHORT},write_alignments=true",
            "--decode_from_file={folder}/text",
            "--decode_to_file={folder}/translations",
        ),
        starts_from=("data", "run", "text"),
        quick=False,
    ),
    Case(
        name="dictionary",
        command="dictionary",
        flags=(
            "--source={folder}/raw/test.src",
            "--reference={folder}/raw/test.tgt",
            "--alignments={folder}/links",
            "--translation={folder}/text",
            "--output_file={folder}/entries",
        ),
        starts_from=("raw", "text"),
        spoil=_add_links,
        quick=False,
    ),
    Case(
        name="scores",
        command="decoder",
        flags=(*RUN, SHORT, "--score_file={folder}/pairs", "--decode_to_file={folder}/scores"),
        starts_from=("data", "run", "pairs"),
        quick=False,
    ),
    Case(
        name="trees",
        command="parse",
        flags=("--input_file={folder}/text", "--parser=stanza"),
        starts_from=("text",),
        setup="cases:use_flat_parser",
    ),
    Case(
        name="phrases",
        command="parse",
        flags=("--input_file={folder}/text", "--parser=stanza", "--phrases"),
        starts_from=("text",),
        setup="cases:use_flat_parser",
        quick=False,
    ),
    Case(
        name="plot",
        command="eval",
        flags=(
            "--translation={folder}/text",
            "--reference={folder}/raw/test.src",
            "--baseline={folder}/raw/test.tgt",
            "--ngrams=4",
            "--plot={folder}/ngrams.png",
        ),
        starts_from=("raw", "text"),
        quick=False,
    ),
    Case(
        name="import",
        command="import_t2t",
        flags=(
            "--checkpoint_path={folder}/t2t",
            "--vocab_file={folder}/t2t/vocab",
            "--output_dir={folder}/imported",
            IMPORTED,
        ),
        starts_from=("t2t",),
        quick=False,
    ),
)


# Those that take longer are left out where nobody asks for slow tests.
CASES_BY_COST = [
    pytest.param(case, id=case.name, marks=() if case.quick else pytest.mark.slow) for case in CASES
]


def make_world(folder: pathlib.Path) -> None:
    """Make what the cases start from: a corpus, data, a run, texts, a checkpoint of T2T's."""
    (folder / "raw").mkdir(parents=True)
    letters = "abcdefghijklmnop"
    for split, count in (("train", 400), ("dev", 8), ("test", 8)):
        lines = [
            " ".join(letters[(i * 7 + j * (i % 5 + 1)) % 16] * 2 for j in range(3 + i % 4))
            for i in range(count)
        ]
        (folder / "raw" / f"{split}.src").write_text("".join(f"{line}\n" for line in lines))
        (folder / "raw" / f"{split}.tgt").write_text("".join(f"{line.upper()}\n" for line in lines))
    shutil.copy(folder / "raw" / "test.src", folder / "text")
    (folder / "pairs").write_text("".join(f"{line}\t{line.upper()}\n" for line in lines))
    for command, flags in (("datagen", DATAGEN), ("trainer", (*TRAIN, "--train_steps=4"))):
        ended = forked.run(command, [flag.format(folder=folder) for flag in flags], folder)
        assert ended.code == 0, ended.err
    pieces = ["<pad>", "<EOS>", "hou", "se_", *"thedogusaorn_\\;0123456789"]
    pieces = list(dict.fromkeys(pieces))
    (folder / "t2t").mkdir()
    make_checkpoint(vocab_size=len(pieces), seed=3).write(folder / "t2t")
    (folder / "t2t" / "vocab").write_text("".join(f"'{piece}'\n" for piece in pieces))


def contents(folder: pathlib.Path) -> dict[str, str]:
    """Return a digest of every file of a folder, by its path there.

    Exports are counted from 1 instead of named by their time, so that two runs compare.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        name = re.sub(r"(?<=served/)\d{6,}", "VERSION", name)
        if path.is_dir():
            found[f"{name}/"] = ""
        elif not VARYING.search(name):
            assert name not in found, f"{path}: two exports"
            found[name] = _digest(path)
        elif not name.endswith("-lock"):
            found[re.sub(r"tfevents.*", "tfevents", name)] = ""
    return found


def _digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def use_flat_parser() -> None:
    """Replace the parsers by one that needs no model; called in the process of a command."""
    from t2t_phrase.text.trees import parsers

    class Flat:
        def parse(self, sentences: list[str]) -> list[str]:
            return [
                "(S " + " ".join(f"(X {word})" for word in sentence.split()) + ")"
                for sentence in sentences
            ]

    parsers.open_parser = lambda *_, **__: Flat()  # type: ignore[assignment]


def describe(ended: forked.Ended) -> str:
    """Return all that is known of a command's end, for messages of failed tests."""
    return json.dumps(dataclasses.asdict(ended), indent=1)
