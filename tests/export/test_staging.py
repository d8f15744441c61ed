import errno
import os

import pytest
import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.export.staging import check_loadable, publish, staging
from t2t_phrase.io import locks
from t2t_phrase.io.files import WriteError


def test_a_version_appears_whole_and_nothing_stays(tmp_path):
    for number in ("1", "2"):
        with staging(tmp_path) as folder:
            (folder / "graph").write_text("x")
            assert not folder.name.isdecimal()
            assert publish(folder, tmp_path) == tmp_path / number
    assert sorted(os.listdir(tmp_path)) == ["1", "2"]


def test_a_version_can_be_read_by_other_users(tmp_path):
    with staging(tmp_path) as folder:
        assert publish(folder, tmp_path).stat().st_mode & 0o777 == 0o755


def test_a_number_that_another_export_takes_meanwhile_is_not_taken_again(tmp_path, monkeypatch):
    rename = os.rename

    def taken(source, target):
        monkeypatch.setattr(os, "rename", rename)
        (tmp_path / "1").mkdir()
        raise OSError(errno.ENOTEMPTY, "Directory not empty")

    with staging(tmp_path) as folder:
        monkeypatch.setattr(os, "rename", taken)
        assert publish(folder, tmp_path) == tmp_path / "2"


def test_what_killed_exports_left_goes_and_what_live_ones_write_stays(tmp_path):
    (tmp_path / ".unfinished-dead").mkdir()
    (tmp_path / ".unfinished-dead" / "variables").write_text("half")
    (tmp_path / ".mine").mkdir()
    with staging(tmp_path) as one, staging(tmp_path) as other:
        assert one != other and one.is_dir() and other.is_dir()
        assert sorted(os.listdir(tmp_path)) == sorted([".mine", one.name, other.name])
        assert locks.is_held(one)
    assert os.listdir(tmp_path) == [".mine"]


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        tf.errors.ResourceExhaustedError(None, None, "x/y; No space left on device"),
        tf.errors.PermissionDeniedError(None, None, "x/y; Permission denied"),
        PermissionError(13, "Permission denied"),
    ],
)
def test_a_failure_leaves_earlier_versions_alone(tmp_path, error):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "graph").write_text("x")
    with (
        pytest.raises(WriteError, match=rf"(no space left while writing|cannot write) {tmp_path}"),
        staging(tmp_path) as folder,
    ):
        (folder / "graph").write_text("half")
        raise error
    assert os.listdir(tmp_path) == ["1"] and (tmp_path / "1" / "graph").read_text() == "x"


def test_a_new_folder_of_a_failed_export_goes(tmp_path):
    with pytest.raises(KeyError), staging(tmp_path / "new"):
        raise KeyError
    assert os.listdir(tmp_path) == []


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("file", "file/x"):
        with pytest.raises(UserError, match=r"cannot write .*file"), staging(tmp_path / place):
            pass
    with pytest.raises(UserError, match="cannot load a SavedModel"):
        check_loadable(tmp_path / "a[b]")
