import errno
import os

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.runs.leftovers import remove_leftovers
from t2t_phrase.runs.writing import writing

OURS = [
    ".model.ckpt-7.tmp/model.ckpt-7.index",
    "model.ckpt-8.data-00000-of-00001",
    "hparams.json.tmp",
    "evaluations.json.tmp",
    "checkpoint.tmp",
    ".model.ckpt-9.index.tmp",
    "vocab.t2t.subwords.tmp",
    "vocab.t2t.targets.subwords.tmp",
    "vocab.joint.tmp",
    "vocab.source.tmp",
    "commands.json.tmp",
    "best_translations.json.tmp",
]
OTHERS = [
    "model.ckpt-5.data-00000-of-00001",
    "model.ckpt-5.index",
    "model.ckpt-6.index",
    "checkpoint",
    "hparams.json",
    "notes.tmp",
    "data.tmp/x",
    "model.ckpt.data-00000-of-00001",
    "mymodel.ckpt-3.data-00000-of-00001",
]


def fill(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def files_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_leftovers_of_ours_go_and_nothing_else(tmp_path):
    fill(tmp_path, OURS + OTHERS)
    gone = remove_leftovers(tmp_path)
    assert sorted(gone) == sorted(name.split("/")[0] for name in OURS)
    assert files_in(tmp_path) == sorted(OTHERS)
    assert remove_leftovers(tmp_path / "absent") == []


def test_writing_tidies_the_folder_and_the_best(tmp_path):
    fill(tmp_path, ["hparams.json.tmp", "best/checkpoint.tmp", "best/model.ckpt-2.index"])
    with writing(tmp_path):
        assert files_in(tmp_path) == [".lock", "best/model.ckpt-2.index"]
    assert files_in(tmp_path) == ["best/model.ckpt-2.index"]


def test_only_one_writes_at_a_time(tmp_path):
    with (
        writing(tmp_path),
        pytest.raises(UserError, match=r"--output_dir=.* another process is writing there"),
        writing(tmp_path),
    ):
        pass


def test_folders_are_created_and_removed_if_they_stay_empty(tmp_path):
    with pytest.raises(KeyError), writing(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
        raise KeyError
    assert os.listdir(tmp_path) == []
    with writing(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "file").write_text("")
    assert files_in(tmp_path) == ["a/b/file"]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("file", "is not a folder"),
        ("file/below/it", "is not a folder"),
        ("nowhere", "is not a folder"),
        ("x" * 300, "File name too long"),
        ("/dev/null", "/dev/null is not a folder"),
        ("/proc/nothing", "No such file"),
    ],
)
def test_folders_that_cannot_be(tmp_path, place, reason):
    (tmp_path / "file").write_text("")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    with (
        pytest.raises(UserError, match=rf"--output_dir=.* cannot be written: .*{reason}") as caught,
        writing(tmp_path / place),
    ):
        pass
    assert caught.value.exit_code == 2
    assert sorted(os.listdir(tmp_path)) == ["file", "nowhere"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.ENOSPC, "no space left"),
        (errno.EROFS, "cannot be written: Read-only file system"),
        (errno.EACCES, "cannot be written: Permission denied"),
    ],
)
def test_what_the_machine_refuses_is_not_the_users_fault(tmp_path, monkeypatch, code, reason):
    def refuse(*arguments, **options):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("os.mkdir", refuse)
    with pytest.raises(UserError, match=reason) as caught, writing(tmp_path / "new"):
        pass
    assert caught.value.exit_code == 3
