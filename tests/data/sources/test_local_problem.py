import json

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.sources.local_problem import LocalProblem


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
        ({"valid": part}, "with the keys train, dev, test"),
        ({"train": ["a", "b"]}, "'train' must be a list of parts"),
    ]:
        listed.write_text(json.dumps(content))
        with pytest.raises(UserError, match=message):
            Local().corpus(str(tmp_path))
    listed.write_text("{")
    with pytest.raises(UserError, match="cannot read"):
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


def test_changed_files_are_noticed(tmp_path):
    write(tmp_path / "sub", train__zh=["1"], train__en=["a b"], dev__zh=["1"], dev__en=["a"])
    problem = Local()
    for _ in range(2):
        generate(problem, str(tmp_path / "data"), str(tmp_path), log=str)
    write(tmp_path / "sub", train__en=["c"])
    with pytest.raises(UserError, match=r"not those that local .*\(changed: train\.en\)"):
        generate(problem, str(tmp_path / "data"), str(tmp_path), log=str)
    generate(problem, str(tmp_path / "data"), str(tmp_path / "gone"), log=str)
