import gzip
import json
import shutil
import sys
import zipfile

import pytest

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.sources import corpus
from t2t_phrase.data.sources.local_problem import LocalProblem
from tests.support.docstring_examples import example, run


class Local(LocalProblem):
    languages = ("zh", "en")
    vocab_size = 300
    folder = "sub"
    file_list = "list.json"
    optional_splits = ("test",)


class FourReferences(Local):
    references = 4


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, lines in files.items():
        path = folder / name.replace("__", ".")
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def texts(corpus, split):
    return [pair.texts for pair in corpus.pairs(split)]


def test_parts_and_references_are_found_by_name(tmp_path):
    write(
        tmp_path / "sub",
        train__b__zh=["2"],
        train__b__en=["two"],
        train__a__zh=["1"],
        train__a__en=["one"],
        training__zh=["not a part"],
        dev__zh=["3"],
        dev__en__0=["three"],
        dev__en__1=["drei"],
    )
    corpus = Local().corpus(str(tmp_path))
    assert corpus.splits() == ("train", "dev")
    assert texts(corpus, "train") == [("1", "one"), ("2", "two")]
    assert texts(corpus, "dev") == [("3", "three", "drei")]
    with pytest.raises(UserError, match=r"dev\.en\.0 has 2 references instead of 4"):
        texts(FourReferences().corpus(str(tmp_path)), "dev")


def test_one_side_alone_may_be_compressed(tmp_path):
    folder = tmp_path / "sub"
    write(folder, train__zh=["1"], train__en=["one"], dev__zh=["2"], dev__en__0=["two"])
    for name in ("train.zh", "dev.en.0"):
        with gzip.open(folder / f"{name}.gz", "wb") as file:
            file.write((folder / name).read_bytes())
        (folder / name).unlink()
    corpus = Local().corpus(str(tmp_path))
    assert texts(corpus, "train") == [("1", "one")]
    assert texts(corpus, "dev") == [("2", "two")]


def test_numbered_references_are_found_whatever_their_name(tmp_path):
    folder = tmp_path / "sub"
    write(folder, train__zh=["1"], train__en=["one"], dev__zh=["2"], dev__en=["two"])
    (folder / "test.[a].zh").write_text("3\n")
    (folder / "test.[a].en.0").write_text("three\n")
    assert texts(Local().corpus(str(tmp_path)), "test") == [("3", "three")]


def test_training_pairs_have_one_target(tmp_path):
    folder = tmp_path / "sub"
    write(folder, train__zh=["1"], train__en__0=["one"], train__en__1=["a"], dev__zh=["2"])
    write(folder, dev__en=["two"])
    match = r"train\.zh has 2 targets \(.*en\.0, .*en\.1\), but .* have one: .* in list\.json$"
    with pytest.raises(UserError, match=match):
        Local().corpus(str(tmp_path))
    parts = [["train.zh", "train.en.0"], ["train.zh", "train.en.1"]]
    listed = {"train": parts, "dev": [["dev.zh", "dev.en"]]}
    (folder / "list.json").write_text(json.dumps(listed))
    corpus = Local().corpus(str(tmp_path))
    assert texts(corpus, "train") == [("1", "one"), ("1", "a")]
    (folder / "list.json").write_text(
        json.dumps({**listed, "train": [["train.zh", "train.en.0", "train.en.1"]]})
    )
    with pytest.raises(UserError, match="training pairs have one"):
        Local().corpus(str(tmp_path))


def test_sgml_sets_count_their_references(tmp_path):
    write(tmp_path / "sub", train__zh=["1"], train__en=["one"])
    sets = {
        "dev.zh.sgm": '<doc docid="d" sysid="src"><seg id="1">3</seg></doc>',
        "dev.en.sgm": "".join(
            f'<doc docid="d" sysid="r{i}"><seg id="1">three{i}</seg></doc>' for i in range(4)
        ),
    }
    for name, text in sets.items():
        (tmp_path / "sub" / name).write_text(text)
    corpus = FourReferences().corpus(str(tmp_path))
    assert texts(corpus, "dev") == [("3", "three0", "three1", "three2", "three3")]


def test_a_list_names_files_anywhere(tmp_path):
    write(tmp_path / "elsewhere", a=["1"], b=["one"])
    write(tmp_path / "sub")
    part = [["../elsewhere/a", str(tmp_path / "elsewhere" / "b")]]
    listed = tmp_path / "sub" / "list.json"
    listed.write_text(json.dumps({"train": part, "dev": part}))
    assert texts(Local().corpus(str(tmp_path)), "dev") == [("1", "one")]
    for content, message in [
        ({"train": part, "dev": [["../absent", "../elsewhere/b"]]}, "do not exist: .*absent"),
        ({"train": [["a", "b"]], "dev": part, "weights": [3]}, r"do not exist: \S+a, \S+b$"),
        ({"valid": part}, "key 'valid' is unknown; known: train, dev, test, weights"),
        ([part], "with the keys train, dev, test"),
        ({"train": ["a", "b"]}, "'train' must be a list of parts"),
        ({"dev": part, "weights": []}, "lists no files for 'train'"),
        ({"train": [["a" * 300, "b"]]}, r"'train': 'a+\.\.\.a+' cannot be the name of a file"),
        ({"train": [["a\0.zip:en", "b"]]}, "cannot be the name of a file"),
    ]:
        listed.write_text(json.dumps(content))
        with pytest.raises(UserError, match=message):
            Local().corpus(str(tmp_path))
    listed.write_text('{"train": [], "train": []}')
    with pytest.raises(UserError, match=r"list\.json: an object gives 'train' twice"):
        Local().corpus(str(tmp_path))
    listed.write_text("{")
    with pytest.raises(UserError, match="is not valid JSON"):
        Local().corpus(str(tmp_path))


def test_a_list_without_a_needed_set_is_blamed(tmp_path):
    folder = tmp_path / "sub"
    write(folder, train__zh=["1"], train__en=["one"], dev__zh=["2"], dev__en=["two"])
    listed = folder / "list.json"
    listed.write_text('\ufeff{"train": [["train.zh", "train.en"]]}', encoding="utf-8")
    with pytest.raises(UserError, match=r"list\.json lists no files for 'dev'.*\[\[\"FILE\.zh"):
        Local().corpus(str(tmp_path))


def test_missing_files_are_named(tmp_path):
    write(tmp_path / "sub", train__zh=["1"], train__en=["one"])
    with pytest.raises(UserError, match=r"no dev\.zh and dev\.en in .*sub, and no list\.json"):
        Local().corpus(str(tmp_path))
    write(tmp_path / "sub", dev__zh=["1"])
    with pytest.raises(UserError, match=r"dev\.en is missing, and so is dev\.en\.0"):
        Local().corpus(str(tmp_path))
    write(tmp_path / "sub", dev__en=["1"], dev__zh__gz=["1"])
    with pytest.raises(UserError, match=r"dev\.zh and .*dev\.zh\.gz: only one"):
        Local().corpus(str(tmp_path))


def test_links_to_nothing_are_not_blamed_on_a_list(tmp_path):
    write(tmp_path / "sub", train__en=["one"], dev__zh=["1"], dev__en=["one"])
    (tmp_path / "sub" / "train.zh").symlink_to("absent")
    with pytest.raises(UserError, match=r"^no files, or links .*do not exist: \S+train\.zh$"):
        Local().corpus(str(tmp_path))


def test_text_and_sgml_are_not_mixed(tmp_path):
    write(tmp_path / "sub", a__sgm=["<srcset>"], a__en=["one"])
    part = [["a.sgm", "a.en"]]
    (tmp_path / "sub" / "list.json").write_text(json.dumps({"train": part, "dev": part}))
    with pytest.raises(UserError, match=r"a\.sgm is SGML, but \S+a\.en is not"):
        texts(Local().corpus(str(tmp_path)), "dev")


def test_compressed_sgml_is_not_taken_for_text(tmp_path):
    part = [["a.sgm.gz", "b.sgm.gz"]]
    for name in part[0]:
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "sub" / name).write_bytes(gzip.compress(b"<srcset>\n"))
    (tmp_path / "sub" / "list.json").write_text(json.dumps({"train": part, "dev": part}))
    with pytest.raises(UserError, match=r"a\.sgm\.gz: SGML must not be compressed"):
        texts(Local().corpus(str(tmp_path)), "dev")


def test_the_estimate_of_space_knows_the_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path / "home", a__zh=["1" * 99], a__en=["a" * 99])
    write(tmp_path / "sub", dev__zh=["1"], dev__en=["a"])
    with zipfile.ZipFile(tmp_path / "sub" / "x.zip", "w") as file:
        file.writestr("x.zh", "1\n")
        file.writestr("x.en", "a\n")
    train = [["~/a.zh", "~/a.en"], ["x.zip:zh", "x.zip:en"]]
    listed = {"train": train, "dev": [["dev.zh", "dev.en"]]}
    (tmp_path / "sub" / "list.json").write_text(json.dumps(listed))
    space = Local().raw_space(str(tmp_path))
    assert (space.unpacked, space.text) == (4, 204)


def test_files_with_nearly_the_right_name_are_named(tmp_path):
    write(
        tmp_path / "sub",
        train__zh=["1"],
        train__en=["one"],
        dev__zh=["1"],
        dev__en=["one"],
        train2__zh=["2"],
        train_news__en__gz=["two"],
        trainer=["3"],
        lists__json=["{}"],
        data__json=["{}"],
    )
    found = list(Local().corpus(str(tmp_path)).notes())
    assert [line.split()[0].rpartition("/")[2] for line in found] == [
        "train2.zh",
        "train_news.en.gz",
        "lists.json",
    ]
    assert "did you mean list.json" in found[-1]


def test_a_file_that_occurs_often_is_read_once_for_its_checksum(tmp_path, monkeypatch):
    write(tmp_path / "sub", a=["1"], b=["one"])
    lists = {"train": [["a", "b"]], "dev": [["a", "b"]], "weights": [50]}
    (tmp_path / "sub" / "list.json").write_text(json.dumps(lists))
    read = []
    original = corpus.checksum
    monkeypatch.setattr(corpus, "checksum", lambda path: read.append(path.name) or original(path))
    inputs = Local().corpus(str(tmp_path)).inputs()
    assert sorted(read) == ["a", "b"]
    assert len(inputs.checksums) == 102


def make(problem, tmp_path, raw="."):
    messages = []
    generate(problem, str(tmp_path / "data"), str(tmp_path / raw), log=messages.append)
    return messages


def two_parts(tmp_path):
    write(
        tmp_path / "sub",
        train__a__zh=["1 2"],
        train__a__en=["a b"],
        train__b__zh=["3"],
        train__b__en=["c"],
        dev__zh=["1"],
        dev__en=["a"],
    )


def refused(tmp_path, difference):
    with pytest.raises(UserError) as caught:
        make(Local(), tmp_path)
    assert str(caught.value) == (
        f"the raw files are not those that local in {tmp_path / 'data'} was made from "
        f"({difference}); use another --data_dir, or delete local-manifest.json and "
        "vocab.local.300.model there to make the data again"
    )


def test_raw_files_that_change_are_noticed(tmp_path):
    two_parts(tmp_path)
    make(Local(), tmp_path)
    done = [f"local: complete in {tmp_path / 'data'}, nothing to do"]
    assert make(Local(), tmp_path) == done
    folder = tmp_path / "sub"
    write(folder, train__b__en=["d"])
    refused(tmp_path, "changed: train.b.en")
    write(folder, train__b__en=["c"], train__c__zh=["4"], train__c__en=["e"], test__zh=["1"])
    write(folder, test__en=["a"])
    refused(tmp_path, "added: train.c.zh, train.c.en, test.zh, test.en")
    for name in ("train.c.zh", "train.c.en", "test.zh", "test.en"):
        (folder / name).unlink()
    for suffix in ("zh", "en"):
        (folder / f"train.a.{suffix}").rename(folder / f"train.z.{suffix}")
    refused(tmp_path, "added: train.z.zh, train.z.en; gone: train.a.zh, train.a.en")
    (folder / "train.z.en").unlink()
    with pytest.raises(UserError, match=r"train\.z\.en is missing"):
        make(Local(), tmp_path)
    # Who has deleted the raw files does not want to hear of them.
    for path in folder.iterdir():
        path.unlink()
    assert make(Local(), tmp_path) == done
    assert make(Local(), tmp_path, "nowhere") == done


def test_a_list_that_changes_is_noticed(tmp_path):
    two_parts(tmp_path)
    folder = tmp_path / "sub"
    a, b, dev = (["train.a.zh", "train.a.en"], ["train.b.zh", "train.b.en"], ["dev.zh", "dev.en"])
    listed = folder / "list.json"

    def write_list(**parts):
        listed.write_text(json.dumps(parts))

    write_list(train=[a, b], dev=[dev])
    make(Local(), tmp_path)
    done = [f"local: complete in {tmp_path / 'data'}, nothing to do"]
    write_list(dev=[dev], train=[a, b])
    assert make(Local(), tmp_path) == done
    write_list(train=[b, a], dev=[dev])
    was = "train.a.zh+train.a.en, train.b.zh+train.b.en"
    refused(
        tmp_path, f"files of the train set: {was} -> train.b.zh+train.b.en, train.a.zh+train.a.en"
    )
    write_list(train=[a], dev=[dev, b])
    with pytest.raises(UserError, match="not those that local"):
        make(Local(), tmp_path)
    write_list(train=[a], dev=[dev])
    refused(tmp_path, "gone: train.b.zh, train.b.en")
    listed.write_text("{" * 5)
    with pytest.raises(UserError, match="is not valid JSON"):
        make(Local(), tmp_path)
    for path in folder.iterdir():
        path.unlink()
    write_list(train=[a, b], dev=[dev])
    assert make(Local(), tmp_path) == done
    write_list(train=[["x.zh", "x.en"]], dev=[dev])
    refused(tmp_path, f"files of the train set: {was} -> x.zh+x.en")
    listed.write_text("[" * 100_000)
    with pytest.raises(UserError, match="is not valid JSON"):
        make(Local(), tmp_path)


def test_texts_of_an_archive_may_be_deleted_afterwards(tmp_path):
    folder = tmp_path / "sub"
    write(folder, dev__zh=["1"], dev__en=["a"])
    with zipfile.ZipFile(folder / "x.zip", "w") as file:
        file.writestr("x.zh", "1 2\n")
        file.writestr("x.en", "a b\n")
    listed = {"train": [["x.zip:zh", "x.zip:en"]], "dev": [["dev.zh", "dev.en"]]}
    (folder / "list.json").write_text(json.dumps(listed))
    make(Local(), tmp_path)
    done = [f"local: complete in {tmp_path / 'data'}, nothing to do"]
    # Extracted texts can be made again from the archive, and are all that is needed of it.
    shutil.move(folder / ".extracted", tmp_path / "moved")
    assert make(Local(), tmp_path) == done and not (folder / ".extracted").exists()
    shutil.move(tmp_path / "moved", folder / ".extracted")
    (folder / "x.zip").unlink()
    assert make(Local(), tmp_path) == done
    names = [f"{path.name}" for path in sorted((folder / ".extracted").iterdir())]
    shutil.rmtree(folder / ".extracted")
    refused(tmp_path, f"gone: {names[1]}, {names[0]}")
    for path in folder.glob("dev.*"):
        path.unlink()
    assert make(Local(), tmp_path) == done


def test_nothing_is_downloaded_to_see_what_is_at_hand(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    write(tmp_path / "sub", dev__zh=["1"], dev__en=["a"])
    listed = {"train": [["hf:a/b/train:zh", "hf:a/b/train:en"]], "dev": [["dev.zh", "dev.en"]]}
    (tmp_path / "sub" / "list.json").write_text(json.dumps(listed))
    inputs = Local().inputs_at_hand(str(tmp_path))
    assert set(inputs.checksums) == {"dev.zh", "dev.en"}
    assert inputs.parts["train"] == [["a-b-train.zh", "a-b-train.en"]]


def test_a_home_that_does_not_exist_is_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(UserError, match=r"no train\.zh and train\.en in ~nobody-here"):
        Local().corpus("~nobody-here")


def test_the_example_runs(monkeypatch):
    monkeypatch.setattr(registry.problems, "_entries", dict(registry.problems._entries))
    assert run(example(LocalProblem)) == 1
