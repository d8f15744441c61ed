"""Archives of OPUS and datasets of the Hugging Face hub as files."""

import sys
import types
import zipfile

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.collections import as_file
from t2t_phrase.data.sources.local_problem import read_file_list


@pytest.fixture
def archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "de-en.txt.zip", "w") as file:
        file.writestr("README", "about")
        file.writestr("Books.de-en.de", "Ein Haus .\n")
        file.writestr("Books.de-en.en", "A house .\n")
    return tmp_path


def test_both_sides_of_an_archive(archive):
    (archive / "list.json").write_text(
        '{"train": [["de-en.txt.zip:en", "de-en.txt.zip:de"]], "dev": [["a.en", "a.de"]]}'
    )
    parts = read_file_list(archive / "list.json")
    source, target = parts["train"][0]
    assert (source.read_text(), target.read_text()) == ("A house .\n", "Ein Haus .\n")
    assert parts["dev"] == [[archive / "a.en", archive / "a.de"]]
    before = source.stat().st_mtime_ns
    assert as_file("de-en.txt.zip:en", archive) == source
    assert source.stat().st_mtime_ns == before


def test_another_archive_of_the_name_is_another_file(archive):
    first = as_file("de-en.txt.zip:en", archive)
    with zipfile.ZipFile(archive / "de-en.txt.zip", "w") as file:
        file.writestr("Books.de-en.en", "A cat .\n")
    second = as_file("de-en.txt.zip:en", archive)
    assert first != second and second.read_text() == "A cat .\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("de-en.txt.zip:e", r"has no files that end in \.e; did you mean"),
        ("missing.zip:en", "cannot read .*missing.zip"),
        ("hf:books:en", "expected hf:DATASET/CONFIG/SPLIT:LANGUAGE"),
    ],
)
def test_mistakes(archive, name, message):
    with pytest.raises(UserError, match=message):
        as_file(name, archive)


def test_a_damaged_archive(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK no archive")
    with pytest.raises(UserError, match=r"cannot read .*a\.zip"):
        as_file("a.zip:en", tmp_path)


def test_a_dataset_of_the_hub(tmp_path, monkeypatch):
    asked = []

    def load_dataset(name, config, *, split):
        asked.append((name, config, split))
        return [{"translation": {"en": "A\nhouse .", "fr": "Une maison ."}}] * 2

    fake = types.SimpleNamespace(load_dataset=load_dataset)
    monkeypatch.setitem(sys.modules, "datasets", fake)
    path = as_file("hf:user/books/en-fr/train:en", tmp_path)
    assert path.read_text() == "A house .\nA house .\n"
    assert asked == [("user/books", "en-fr", "train")]
    assert as_file("hf:user/books/en-fr/train:en", tmp_path) == path and len(asked) == 1
    with pytest.raises(UserError, match=r"has no 'de'.*it has en, fr"):
        as_file("hf:user/books/en-fr/train:de", tmp_path)
    assert not list((tmp_path / ".extracted").glob("*.tmp"))


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=r"pip install 't2t_phrase\[datasets\]'"):
        as_file("hf:books/en-fr/train:en", tmp_path)
