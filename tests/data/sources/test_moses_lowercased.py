import gzip

import pytest

from t2t_phrase.data.problem import get_problem
from t2t_phrase.data.sources.corpus import TextCorpus
from t2t_phrase.data.sources.moses_lowercased import MosesLowercased

sacremoses = pytest.importorskip("sacremoses")


def test_every_text_has_the_tokens_of_its_language(tmp_path):
    lines = {
        "dev.en": "A man's hat, e.g. RED.",
        "dev.de.0": "Ein Mann, z. B. im „Park“!",
        "dev.de.1": "Er geht's an.",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    (tmp_path / "dev.en").write_bytes((tmp_path / "dev.en").read_bytes() + b"\xff\n")
    for name in ("dev.de.0", "dev.de.1"):
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"gut\n")
    plain = TextCorpus({"dev": [[tmp_path / name for name in lines]]})
    first, second = MosesLowercased(plain, ("en", "de")).pairs("dev")
    expected = []
    for name, text in lines.items():
        language = name[4:6]
        normalized = sacremoses.MosesPunctNormalizer(language).normalize(text)
        tokens = sacremoses.MosesTokenizer(language).tokenize(normalized, escape=False)
        expected.append(" ".join(tokens).lower())
    assert list(first.texts) == expected
    assert first.texts[0] == "a man 's hat , e.g. red ."
    assert second.texts == (None, "gut", "gut") and second.line == 2
    assert MosesLowercased(plain, ("en", "de")).inputs() == plain.inputs()


def test_the_problem_reads_the_files_of_multi30k(shared_dir):
    folder = shared_dir / "data/multi30k"
    problem = get_problem("translate_ende_multi30k_moses")
    pair = next(problem.corpus(str(folder)).pairs("test"))
    with gzip.open(folder / "test_2016_flickr.de.gz", "rt", encoding="utf-8") as file:
        text = next(file)
    assert pair.texts[1] == "ein mann mit einem orangefarbenen hut , der etwas anstarrt ."
    assert text.split(",")[0].lower() in pair.texts[1]
