import threading
import time

import pytest
from running_server import toy_servable

from t2t_phrase.config import UserError
from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.versions import WatchedVersions, find_version, status_of


def load(folder):
    content = (folder / "model").read_text()
    if content != "fine":
        raise UserError(f"{folder} is {content}")
    return toy_servable(int(folder.name))


def export(folder, number, content="fine"):
    (folder / str(number)).mkdir(exist_ok=True)
    (folder / str(number) / "model").write_text(content)


def states(versions):
    found = status_of(versions, "toy", None)["model_version_status"]
    return {one["version"]: (one["state"], one["status"]["error_message"]) for one in found}


def test_the_latest_version_is_served(tmp_path):
    for number in (2, 10, 9):
        export(tmp_path, number)
    for other in ("11x", ".unfinished-12", "012"):
        (tmp_path / other).mkdir()
    versions = WatchedVersions(tmp_path, load)
    assert versions.current.version == 10
    assert states(versions) == {"10": ("AVAILABLE", "")}
    export(tmp_path, 11)
    versions.look()
    assert versions.current.version == 11
    assert states(versions) == {"11": ("AVAILABLE", ""), "10": ("END", "")}
    assert find_version(versions, "toy", "11") is find_version(versions, "toy", None)
    for missing in ("10", "12", "x"):
        with pytest.raises(RequestError, match=rf"Specific\(toy, {missing}\).* is 11") as refused:
            find_version(versions, "toy", missing)
        assert refused.value.status == 404
    with pytest.raises(RequestError, match="version 12 of model toy"):
        status_of(versions, "toy", "12")


def test_a_damaged_version_is_reported_once_and_the_old_one_stays(tmp_path, capsys):
    export(tmp_path, 1)
    versions = WatchedVersions(tmp_path, load)
    export(tmp_path, 2, "damaged")
    capsys.readouterr()
    for _ in range(3):
        versions.look()
    said = capsys.readouterr().err
    assert (
        said == f"version 2 cannot be loaded; version 1 stays in use: {tmp_path / '2'} is damaged\n"
    )
    assert versions.current.version == 1
    assert states(versions)["2"] == ("END", f"{tmp_path / '2'} is damaged")
    # A newer one is not held up, and one that is mended is loaded.
    export(tmp_path, 2)
    versions.look()
    assert versions.current.version == 2


def test_a_version_that_is_replaced_is_loaded_again(tmp_path, capsys):
    export(tmp_path, 1)
    versions = WatchedVersions(tmp_path, load)
    first = versions.current
    versions.look()
    (tmp_path / "1").rename(tmp_path / "old")
    versions.look()
    assert versions.current is first
    export(tmp_path, 1, "damaged")
    versions.look()
    assert versions.current is first and "version 1 stays in use" in capsys.readouterr().err
    assert states(versions) == {"1": ("AVAILABLE", f"{tmp_path / '1'} is damaged")}
    export(tmp_path, 1)
    versions.look()
    assert versions.current is not first and versions.current.version == 1
    assert states(versions) == {"1": ("AVAILABLE", "")}


def test_a_version_that_is_deleted_gives_way_to_the_one_before(tmp_path):
    export(tmp_path, 1)
    export(tmp_path, 2)
    versions = WatchedVersions(tmp_path, load)
    (tmp_path / "2/model").unlink()
    (tmp_path / "2").rmdir()
    versions.look()
    assert versions.current.version == 1
    (tmp_path / "1").rename(tmp_path / "gone")
    versions.look()
    assert versions.current.version == 1


def test_a_version_that_is_deleted_while_its_files_are_listed(tmp_path, monkeypatch):
    export(tmp_path, 1)
    versions = WatchedVersions(tmp_path, load)
    (tmp_path / "2").mkdir()

    def vanish(folder, pattern):
        yield folder / "variables"
        raise FileNotFoundError(folder)

    monkeypatch.setattr("pathlib.Path.rglob", vanish)
    versions.look()
    assert versions.current.version == 1 and states(versions)["2"][0] == "END"


def test_there_must_be_a_version_to_begin_with(tmp_path, capsys):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UserError, match="holds no exported version"):
            WatchedVersions(folder, load)
    export(tmp_path, 1, "cut off")
    with pytest.raises(UserError, match="1 is cut off"):
        WatchedVersions(tmp_path, load)
    export(tmp_path, 2, "damaged")
    export(tmp_path, 1)
    assert WatchedVersions(tmp_path, load).current.version == 1
    assert "version 2 cannot be loaded: " in capsys.readouterr().err


def test_a_server_that_stops_loads_nothing_more(tmp_path):
    export(tmp_path, 1)
    versions = WatchedVersions(tmp_path, load)
    versions.watch(0.01)
    versions.stop()
    export(tmp_path, 2)
    versions.look()
    assert versions.current.version == 1


def test_who_stops_waits_for_the_version_that_is_being_loaded(tmp_path):
    loading, loaded = threading.Event(), threading.Event()

    def slowly(folder):
        if folder.name == "2":
            loading.set()
            # Until `stop` has been called, which must not return before the end.
            assert versions._stopped.wait(120)
            time.sleep(0.2)
            loaded.set()
        return load(folder)

    export(tmp_path, 1)
    versions = WatchedVersions(tmp_path, slowly)
    export(tmp_path, 2)
    versions.watch(0.01)
    assert loading.wait(120)
    versions.stop()
    assert loaded.is_set() and versions.current.version == 1
