import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.problem import get_problem

DOC = '<DOC docid="{doc}" sysid="{by}"><p>{segments}</p></DOC>'


def sgml(by, *segments):
    body = "".join(f"<seg id={i}> {s} </seg>" for i, s in enumerate(segments, start=1))
    return DOC.format(doc="d", by=by, segments=body)


def write_nist(folder, references=4):
    folder.mkdir()
    for corpus, zh, en in (("LDC2002E18", "你好", "hello"), ("LDC2003E14", "再见", "goodbye")):
        (folder / f"train.{corpus}.zh").write_text(f"{zh}\n", encoding="utf-8")
        (folder / f"train.{corpus}.en").write_text(f"{en}\n", encoding="utf-8")
    for name in ("dev.mt02", "test.mt03", "test.mt04"):
        source = sgml("src", "你好", "世界")
        (folder / f"{name}.zh.sgm").write_text(f"<srcset>{source}</srcset>", encoding="utf-8")
        docs = "".join(sgml(f"E{i}", f"hello {i}", f"world {i}") for i in range(references))
        (folder / f"{name}.en.sgm").write_text(f"<refset>{docs}</refset>", encoding="utf-8")


def test_nist_in_its_own_format(tmp_path):
    write_nist(tmp_path / "nist")
    problem = get_problem("translate_zhen_nist")
    generate(problem, str(tmp_path / "data"), str(tmp_path), log=lambda line: None)
    data = str(tmp_path / "data")
    assert problem.raw_text(data, "test") == (
        ["你好", "世界"] * 2,
        ["hello 0", "world 0"] * 2,
    )
    assert [column[1] for column in problem.raw_references(data, "test")] == [
        f"world {i}" for i in range(4)
    ]
    names = sorted(path.name for path in (tmp_path / "data").glob("*-dev.en*"))
    assert names == [f"translate_zhen_nist-dev.en{end}" for end in ("", ".1", ".2", ".3")]


def test_nist_needs_four_references(tmp_path):
    write_nist(tmp_path / "nist", references=3)
    with pytest.raises(UserError, match=r"dev\.mt02\.en\.sgm has 3 references instead of 4"):
        problem = get_problem("translate_zhen_nist")
        generate(problem, str(tmp_path / "data"), str(tmp_path), log=lambda line: None)


def test_bolt_layout(tmp_path):
    problem = get_problem("translate_zhen_bolt")
    with pytest.raises(UserError, match=r"no train\.zh and train\.en in .*bolt; put"):
        problem.corpus(str(tmp_path))
    (tmp_path / "bolt").mkdir()
    for split in ("train", "dev", "test"):
        for language in ("zh", "en"):
            (tmp_path / "bolt" / f"{split}.{language}").write_text(f"{split}\n")
    corpus = problem.corpus(str(tmp_path))
    assert [pair.texts for pair in corpus.pairs("test")] == [("test", "test")]
