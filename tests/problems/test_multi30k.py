import pytest
from stored_pairs import stored_pairs

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.problem import get_problem


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("translate_ende_multi30k", "Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt."),
        (
            "translate_enfr_multi30k",
            "Un homme avec un chapeau orange regardant quelque chose.",
        ),
    ],
)
@pytest.mark.slow
def test_real_files(shared_dir, tmp_path, name, first):
    problem = get_problem(name)
    manifest = generate(
        problem, str(tmp_path), str(shared_dir / "data/multi30k"), log=lambda line: None
    )
    assert {split: entry["pairs"] for split, entry in manifest.splits.items()} == {
        "train": 29000,
        "dev": 1014,
        "test": 1000,
    }
    assert manifest.vocabulary[0]["size"] == 10_000
    sources, references = problem.raw_text(str(tmp_path), "test")
    assert (sources[0], references[0]) == (
        "A man in an orange hat starring at something.",
        first,
    )
    encoder = problem.vocabularies(str(tmp_path)).source
    (shard,) = problem.record_files(str(tmp_path), "test")
    assert [encoder.decode(ids) for _, ids in stored_pairs(shard)] == references


def test_another_file_of_that_name_is_refused(tmp_path):
    (tmp_path / "train.en.gz").write_bytes(b"not it")
    with pytest.raises(UserError, match=r"train\.en\.gz has the SHA-256 checksum .*, not d79cfa"):
        get_problem("translate_ende_multi30k").corpus(str(tmp_path))
