import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.corpus import TextCorpus
from t2t_phrase.features import ALIGNMENT


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_parts_follow_each_other(tmp_path):
    a, b = write(tmp_path / "a.en", "1", "2"), write(tmp_path / "a.de", "eins", "zwei")
    c, d = write(tmp_path / "c.en", "3"), write(tmp_path / "c.de", "drei")
    pairs = list(TextCorpus({"train": [[a, b], [c, d]]}).pairs("train"))
    assert [pair.texts for pair in pairs] == [("1", "eins"), ("2", "zwei"), ("3", "drei")]
    assert (pairs[2].names, pairs[2].line) == ((str(c), str(d)), 1)


def test_mismatch_names_files_counts_and_line(tmp_path):
    lines = ["x" * (7 * i % 60 + 1) for i in range(50)]
    a, b = write(tmp_path / "a.en", *lines), write(tmp_path / "a.de", *lines[:20], *lines[21:])
    message = r"a\.en has 50 lines but .*a\.de has 49; .* misaligned from line 21"
    with pytest.raises(UserError, match=message):
        list(TextCorpus({"train": [[a, b]]}).pairs("train"))
    with pytest.raises(UserError, match=r"a\.de has 49 lines but .*a\.en has 50"):
        list(TextCorpus({"train": [[b, a]]}).pairs("train"))


def test_sgml_references_in_several_files(tmp_path):
    doc = '<doc docid="d" sysid="{}"><seg id="1">{}</seg></doc>'
    source = write(tmp_path / "dev.zh.sgm", doc.format("src", 1))
    one = write(tmp_path / "dev.en.0.sgm", doc.format("r0", "one"))
    two = write(tmp_path / "dev.en.1.sgm", doc.format("r1", "a"), doc.format("r2", "b"))
    (pair,) = TextCorpus({"dev": [[source, one, two]]}).pairs("dev")
    assert pair.texts == ("1", "one", "a", "b")
    assert pair.names == tuple(map(str, (source, one, two, two)))


def test_inputs_are_names_and_checksums_of_what_is_there(tmp_path):
    a, b = write(tmp_path / "a", "1"), write(tmp_path / "b", "2")
    (tmp_path / "sub").mkdir()
    c = write(tmp_path / "sub" / "a", "3")
    inputs = TextCorpus({"train": [[a, b], [c, tmp_path / "absent"]], "test": []}).inputs()
    assert set(inputs.checksums) == {"a", "b", "a#2"}
    assert len(set(inputs.checksums.values())) == 3
    assert inputs.parts == {"train": [["a", "b"], ["a#2", "absent"]]}


def test_a_text_may_be_source_in_one_part_and_target_in_another(tmp_path):
    for name, line in {"a": "1 2", "b": "x y", "a.align": "0-1", "b.align": "1-0"}.items():
        write(tmp_path / name, line)
    a, b = tmp_path / "a", tmp_path / "b"
    pairs = TextCorpus({"train": [[a, b], [b, a]]}, (ALIGNMENT,)).pairs("train")
    assert [pair.side for pair in pairs] == [("1-0",), ("0-1",)]
