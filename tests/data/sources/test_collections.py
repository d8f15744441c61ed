"""Archives of OPUS and datasets of the Hugging Face hub as files."""

import hashlib
import io
import sys
import threading
import types
import zipfile

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.collections import as_file, at_hand
from t2t_phrase.data.sources.local_problem import read_file_list
from t2t_phrase.io import locks


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


def spoiled(kind):
    """Return an archive that cannot be read."""
    if kind == "no archive":
        return b"PK no archive"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.en", "A house .\n" * 99)
    found = bytearray(content.getvalue())
    local, central = 0, found.index(b"PK\x01\x02")
    if kind == "damaged text":
        found[local + 34 : local + 40] = b"\xff" * 6
    elif kind == "cut short":
        found[local + 8] = found[central + 10] = 0  # not compressed
        found[central + 20 : central + 28] = b"\xff\xff\xff\0" * 2  # the sizes
    elif kind == "encrypted":
        found[local + 6] |= 1
        found[central + 8] |= 1
    else:
        found[local + 8] = found[central + 10] = 97  # an unknown kind of compression
    return bytes(found)


@pytest.mark.parametrize(
    "kind", ["no archive", "damaged text", "cut short", "encrypted", "compression"]
)
def test_archives_that_cannot_be_read(tmp_path, kind):
    (tmp_path / "a.zip").write_bytes(spoiled(kind))
    with pytest.raises(UserError, match=r"cannot read .*a\.zip: \w"):
        as_file("a.zip:en", tmp_path)
    assert at_hand("a.zip:en", tmp_path).path is None
    assert not list((tmp_path / ".extracted").glob("*"))


def test_tasks_share_the_text_that_one_of_them_writes(archive):
    def task():
        paths.append(as_file("de-en.txt.zip:en", archive))

    paths = []
    first = at_hand("de-en.txt.zip:en", archive).path
    first.parent.mkdir()
    other = threading.Thread(target=task)
    with locks.exclusive(first.with_name(f".{first.name}.lock")):
        other.start()
        first.with_name(f"{first.name}.tmp").write_text("A")
        other.join(0.5)
        assert not paths
        first.with_name(f"{first.name}.tmp").rename(first)
    other.join()
    assert paths == [first] and first.read_text() == "A"
    assert [path.name for path in first.parent.iterdir()] == [first.name]


def test_nothing_is_written_to_see_what_is_at_hand(archive):
    path, sha256 = at_hand("de-en.txt.zip:en", archive)
    assert sha256 == hashlib.sha256(b"A house .\n").hexdigest()
    assert at_hand("hf:books/en-fr/train:en", archive) == (
        archive / ".extracted" / "books-en-fr-train.en",
        "",
    )
    assert at_hand("a.en", archive) == (archive / "a.en", "")
    assert [file.name for file in archive.iterdir()] == ["de-en.txt.zip"]
    assert as_file("de-en.txt.zip:en", archive) == path
    (archive / "de-en.txt.zip").unlink()
    assert at_hand("de-en.txt.zip:en", archive) == (path, "")
    assert as_file("de-en.txt.zip:en", archive) == path
    path.unlink()
    assert at_hand("de-en.txt.zip:en", archive) == (None, "")


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


@pytest.mark.parametrize(
    "error", [ValueError("BuilderConfig 'en-xx' not found."), FileNotFoundError("no books")]
)
def test_a_dataset_that_cannot_be_loaded(tmp_path, monkeypatch, error):
    def load_dataset(name, config, *, split):
        raise error

    fake = types.SimpleNamespace(load_dataset=load_dataset)
    monkeypatch.setitem(sys.modules, "datasets", fake)
    with pytest.raises(UserError) as raised:
        as_file("hf:books/en-xx/train:en", tmp_path)
    expected = f"hf:books/en-xx/train:en: the dataset cannot be loaded: {error}"
    assert str(raised.value) == expected


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=r"pip install 't2t_phrase\[datasets\]'"):
        as_file("hf:books/en-fr/train:en", tmp_path)


def test_columns_may_have_any_names(tmp_path, monkeypatch):
    rows = [{"source": "A house .", "translation": "Ein Haus ."}]
    fake = types.SimpleNamespace(load_dataset=lambda *names, split: rows)
    monkeypatch.setitem(sys.modules, "datasets", fake)
    for column, text in (("source", "A house .\n"), ("translation", "Ein Haus .\n")):
        assert as_file(f"hf:flat/x/train:{column}", tmp_path).read_text() == text
    with pytest.raises(UserError, match=r"has no 'en'.*it has source, translation"):
        as_file("hf:flat/x/train:en", tmp_path)


def test_missing_translations_are_empty_lines(tmp_path, monkeypatch):
    rows = [
        {"translation": {"en": "A house .", "de": "Ein Haus ."}},
        {"translation": {"en": None, "de": "Nichts ."}},
        {"translation": None},
    ]
    fake = types.SimpleNamespace(load_dataset=lambda *names, split: rows)
    monkeypatch.setitem(sys.modules, "datasets", fake)
    for language, text in (("en", "A house .\n\n\n"), ("de", "Ein Haus .\nNichts .\n\n")):
        assert as_file(f"hf:books/de-en/train:{language}", tmp_path).read_text() == text
