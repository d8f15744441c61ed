import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.mteval import read_mteval

SOURCE = """<srcset setid="mt02" srclang="Chinese">
<DOC docid="b" sysid="src">
<hl><seg id=1> 你好 </seg></hl>
<p><seg id=2>再见 &amp; 谢谢
</seg></p>
</DOC>
<DOC docid="a"  sysid="src"><seg id="1">世界</seg></DOC>
</srcset>"""
DOC = '<DOC docid="{}" sysid="{}">{}</DOC>\n'


def references(tmp_path, translators):
    path = tmp_path / "ref.sgm"
    docs = []
    for name in translators:
        docs.append(DOC.format("a", name, f"<seg id=1>world {name}</seg>"))
        docs.append(DOC.format("b", name, "<seg id=1>hello</seg> <seg id=2>bye &lt;</seg>"))
    path.write_text("<refset>" + "".join(docs) + "</refset>", encoding="utf-8")
    return path


def test_segments_in_source_order_with_all_references(tmp_path):
    source = tmp_path / "src.sgm"
    source.write_text(SOURCE, encoding="utf-8")
    rows = list(read_mteval(source, references(tmp_path, ["r2", "r1"])))
    assert [tuple(text.strip() for text in row) for row in rows] == [
        ("你好", "hello", "hello"),
        ("再见 & 谢谢", "bye <", "bye <"),
        ("世界", "world r1", "world r2"),
    ]


def test_names_may_have_blanks_and_quotes(tmp_path):
    path = tmp_path / "x.sgm"
    names = ('"news 1"', "'news 2'", '"it\'s"')
    docs = (f"<doc sysid='my system' docid={name}><seg>{name}</seg></doc>" for name in names)
    path.write_text("".join(docs))
    assert [row[0] for row in read_mteval(path, path)] == list(names)


def test_a_document_is_not_given_twice(tmp_path):
    path = tmp_path / "x.sgm"
    path.write_text(DOC.format("a", "r1", "<seg>1</seg>") * 2)
    with pytest.raises(UserError, match=r"x\.sgm has document 'a' by 'r1' twice; give each"):
        list(read_mteval(path, path))


def test_faults_are_named(tmp_path):
    source = tmp_path / "src.sgm"
    source.write_text(SOURCE.replace("<seg id=1> 你好 </seg>", ""), encoding="utf-8")
    with pytest.raises(UserError, match=r"document 'b' has 1 segments in .* but 2 in .* by 'r1'"):
        list(read_mteval(source, references(tmp_path, ["r1"])))
    source.write_text(SOURCE[: SOURCE.index('<DOC docid="a"')], encoding="utf-8")
    with pytest.raises(UserError, match=r"document 'a' has 0 segments in .* but 1 in .* by 'r1'"):
        list(read_mteval(source, references(tmp_path, ["r1"])))
    source.write_bytes("<doc>\n<seg>你".encode("gb2312"))
    with pytest.raises(UserError, match=r"src\.sgm:2: invalid UTF-8; .*other encodings"):
        list(read_mteval(source, source))
    source.write_text("nothing")
    with pytest.raises(UserError, match="has no <doc>"):
        list(read_mteval(source, source))
