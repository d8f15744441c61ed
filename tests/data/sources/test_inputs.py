import pathlib

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.inputs import Inputs, changes, checksum, named

OLD = Inputs({"a": "1", "b": "2"}, {"train": [["a", "b"]]})


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (OLD, []),
        (Inputs(), []),
        (Inputs({"b": "2", "a": "1"}), []),
        (Inputs({"a": "3", "b": "2"}), ["changed: a"]),
        (Inputs({"a": "1"}), ["gone: b"]),
        (
            Inputs({"c": "1", "d": "2", "trees": "4"}),
            ["added: c, d", "gone: a, b"],
        ),
        (
            Inputs({"a": "1", "b": "2"}, {"train": [["b", "a"]], "dev": [["a", "b"]]}),
            ["files of the train set: a+b -> b+a", "files of the dev set: none -> a+b"],
        ),
        (
            Inputs({}, {"train": [["c", "d"], ["e", "f"]]}),
            ["files of the train set: a+b -> c+d, e+f"],
        ),
    ],
)
def test_changes_are_named(new, found):
    assert changes(OLD, new, welcome=["trees"]) == found


def test_weights_are_named_as_such():
    once = {"a": "1", "b": "2", "x": "3", "y": "4"}
    twice = {**once, "x#2": "3", "y#2": "4"}
    part = [["a", "b"], ["x", "y"]]
    old, new = Inputs(once, {"train": part}), Inputs(twice, {"train": [*part, ["x#2", "y#2"]]})
    assert changes(old, new) == ["files of the train set: a+b, x+y -> a+b, 2 x x+y"]
    assert changes(new, old) == ["files of the train set: a+b, 2 x x+y -> a+b, x+y"]
    assert changes(new, Inputs({}, new.parts)) == []
    assert changes(Inputs(once), new) == ["added: x#2, y#2"]  # Its parts are unknown.
    # A file of this name in another folder.
    other = Inputs({**once, "x#2": "5", "y#2": "4"}, new.parts)
    assert changes(new, other) == ["added: x#2"]


def test_names_that_are_not_utf8_are_refused():
    with pytest.raises(UserError, match=r"train\.fran.*ais\.src: the name is not UTF-8; rename"):
        named([pathlib.Path("train.fran\udce7ais.src")])


def test_every_file_has_a_name_of_its_own():
    paths = [pathlib.Path(path) for path in ("x/a", "y/a", "y/a#2", "z/a")]
    assert [name for name, _ in named(paths)] == ["a", "a#2", "a#2#2", "a#3"]


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(UserError, match=f"cannot read {tmp_path}"):
        checksum(tmp_path)
