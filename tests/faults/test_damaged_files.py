"""A damaged file is named in one sentence, or does not matter; it never changes a result."""

import pathlib
import random
import re

import pytest
from cases import CASES_BY_COST, contents, describe

# Made by the library; texts of the user's may hold anything.
TEXTS = re.compile(r"^(raw/|text$|pairs$|t2t/vocab$)|events\.out|-lock$")


def empty(path: pathlib.Path, draw: random.Random) -> None:
    path.write_bytes(b"")


def cut_short(path: pathlib.Path, draw: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: draw.randrange(1, len(content))])


def flip_a_byte(path: pathlib.Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    # The highest bit: text stays no text, so that no other valid text results.
    content[draw.randrange(len(content))] ^= 0x80
    path.write_bytes(content)


def fill_with_zeros(path: pathlib.Path, draw: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def delete(path: pathlib.Path, draw: random.Random) -> None:
    path.unlink()


DAMAGES = (flip_a_byte, empty, cut_short, fill_with_zeros, delete)


@pytest.fixture(scope="module", params=CASES_BY_COST)
def undisturbed(request, world, tmp_path_factory):
    """A case, its folder, the files that it may read, and what an undisturbed run leaves there."""
    case = request.param
    folder = tmp_path_factory.mktemp("damaged") / "work"
    case.prepare(world, folder)
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    ended = case.run(folder)
    assert ended.code == 0, describe(ended)
    files = [file for file in files if not TEXTS.search(str(file))]
    if not files:
        pytest.skip("reads texts only")
    return case, folder, files, contents(folder)


def check(undisturbed, world, damage, file):
    case, folder, _, expected = undisturbed
    case.prepare(world, folder)
    damage(folder / file, random.Random(f"{case.name} {damage.__name__} {file}"))
    before = contents(folder)
    ended = case.run(folder)
    said = f"{damage.__name__} {file}: {describe(ended)}"
    # A lost file may be missed under the name of what belongs together, such as a checkpoint.
    named = re.sub(r"\.(index|data-.*)$", "", file.name)
    if ended.code:
        assert named in ended.sentence or str(file.parent) in ended.sentence, said
        assert "Traceback" not in ended.out + ended.err, said
        return
    if re.search(rf"{named}(, which is not there| has no scores)", ended.out + ended.err):
        return  # It goes on without it, as documented.
    after = contents(folder)
    differing = {name for name in expected if after.get(name) != expected[name]}
    if file.name.startswith("model.ckpt-"):
        # Old checkpoints may be deleted; those that are gone are listed no more.
        differing.discard(str(file.parent / "checkpoint"))
    if damage is delete or file.name == "commands.json":
        # An average has no copy of what is gone, nor of commands that cannot be read.
        differing.discard(str(file.parent / "averaged" / file.name))
    # A file that is not read stays as it is.
    assert differing <= {str(file)}, said
    if differing:
        assert after.get(str(file)) == before.get(str(file)), said


def test_some_files(undisturbed, world):
    case, _, files, _ = undisturbed
    draw = random.Random(case.name)
    for file in draw.sample(files, min(len(files), 2)):
        check(undisturbed, world, draw.choice(DAMAGES), file)


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_every_file(undisturbed, world, damage):
    for file in undisturbed[2]:
        check(undisturbed, world, damage, file)
