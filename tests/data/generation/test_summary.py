import pathlib
import shlex
import sys

import pytest

from t2t_phrase import registry
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.summary import kept_texts, next_steps, summary
from t2t_phrase.data.problem import get_problem


def manifest(**splits):
    entries = {
        split: {"text": dict.fromkeys(text, ""), "side": dict.fromkeys(side, "")}
        for split, (text, side) in splits.items()
    }
    return Manifest("p", {}, splits=entries)


def test_files_of_text_are_one_line():
    both, trees = (["p-dev.en", "p-dev.de"], []), ["p-dev.trees"]
    test = (["p-test.en", "p-test.de"], [])
    assert kept_texts("p", manifest(train=([], []), dev=both, test=test)) == "p-{dev,test}.{en,de}"
    assert kept_texts("p", manifest(dev=(both[0], trees), test=test)) == (
        "p-dev.{en,de,trees}, p-test.{en,de}"
    )
    assert kept_texts("p", manifest(dev=(["p-dev.en"], []))) == "p-dev.en"
    assert kept_texts("p", manifest(train=([], []))) == ""


def test_the_summary_counts_pairs_and_names_the_entries_of_vocabularies():
    problem = get_problem("translate_text")
    shard = {"source_tokens": 3, "target_tokens": 2}
    splits = {
        split: {"pairs": pairs, "shards": [shard], "faults": {}, "text": {}, "side": {}}
        for split, pairs in {"train": 4000, "dev": 1}.items()
    }
    vocabulary = [{"file": "vocab.model", "size": 2000}]
    options = {"shared_vocab": True, "vocab_type": "unigram"}
    made = Manifest("translate_text", options, vocabulary=vocabulary, splits=splits)
    assert list(summary(problem, made, [])) == [
        "vocab.model: 2,000 joint unigram subwords",
        "translate_text-train-*: 1 shard, 4,000 pairs, 3 source and 2 target tokens",
        "translate_text-dev-*: 1 shard, 1 pair, 3 source and 2 target tokens",
    ]


@pytest.mark.parametrize(
    ("problem", "options", "changes"),
    [
        ("translate_text", {"shared_vocab": True}, None),
        ("translate_text", {"shared_vocab": False}, "share_source_embedding=false"),
        (
            "translate_ende_multi30k",
            {"shared_vocab": False, "sampled_segmentations": 3},
            "share_source_embedding=false,sampled_segmentations=3",
        ),
        ("translate_ende_multi30k_words", {"shared_vocab": False}, None),
    ],
)
def test_the_next_command_fits_the_data_and_the_shell(problem, options, changes):
    made = Manifest("p", options, splits={"train": {"pairs": 400}})
    *_, line = next_steps(get_problem(problem), made, pathlib.Path("my data"))
    words = shlex.split(line)
    assert "--data_dir=my data" in words
    given = [word for word in words if word.startswith("--hparams=")]
    assert given == ([f"--hparams={changes}"] if changes else [])


def test_the_next_command_names_the_folder_that_defines_the_problem(tmp_path, monkeypatch):
    folder = tmp_path / "summary users"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from t2t_phrase import registry\n"
        "from t2t_phrase.data.sources.local_problem import LocalProblem\n"
        "@registry.problems.register\n"
        "class OfSummaryUsers(LocalProblem):\n"
        "    languages = ('a', 'b')\n"
    )
    monkeypatch.setattr(registry.problems, "_entries", dict(registry.problems._entries))
    monkeypatch.setattr(registry, "user_folders", lambda: [str(folder)])
    before = set(sys.modules)
    registry.discover(str(folder))
    made = Manifest("p", {"shared_vocab": True}, splits={"train": {"pairs": 400}})
    *_, line = next_steps(get_problem("of_summary_users"), made, pathlib.Path("data"))
    assert f"--t2t_usr_dir={folder}" in shlex.split(line)
    *_, line = next_steps(get_problem("translate_text"), made, pathlib.Path("data"))
    assert "t2t_usr_dir" not in line
    for name in [name for name in sys.modules if name not in before and "summary_users" in name]:
        del sys.modules[name]
