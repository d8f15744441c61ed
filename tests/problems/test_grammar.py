import itertools
import json
import pathlib

import nltk
import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.summary import next_steps
from t2t_phrase.data.problem import get_problem
from t2t_phrase.registry import problems


def test_side_files_match_the_text(tmp_path):
    get_problem("translate_ende_grammar")  # finds the registrations
    full = problems["translate_ende_grammar"]
    small = type("SmallGrammar", (full,), {"sizes": {"train": 60, "dev": 8, "test": 8}})
    small.vocab_size = 400
    problem = small()
    generate(problem, str(tmp_path), "", log=lambda line: None)
    sources = {}
    for split in ("train", "dev", "test"):
        source, target = problem.raw_text(str(tmp_path), split)
        sources[split] = set(source)
        columns = [
            (tmp_path / f"small_grammar-{split}.{suffix}").read_text().split("\n")[:-1]
            for suffix in ("align", "trees", "facts")
        ]
        assert [len(column) for column in columns] == [small.sizes[split]] * 3
        for english, german, links, tree, facts in zip(source, target, *columns, strict=True):
            english_tokens = grammar.tokenize(english)
            german_tokens = grammar.tokenize(german)
            for link in links.split():
                i, j = map(int, link.split("-"))
                assert i < len(english_tokens) and j < len(german_tokens)
            assert nltk.Tree.fromstring(tree).leaves() == list(english_tokens)
            assert json.loads(facts)["voice"] in ("active", "passive")
    assert not sources["train"] & (sources["dev"] | sources["test"])


@pytest.mark.parametrize(("size", "train_pairs"), [("10k", 10_000), ("1m", 1_000_000)])
def test_sizes_share_their_first_pairs_and_test_sets(size, train_pairs):
    usual = get_problem("translate_ende_grammar")
    other = get_problem(f"translate_ende_grammar{size}")
    assert other.sizes["train"] == train_pairs
    for split in ("train", "dev", "test"):
        ours, theirs = (p.corpus("").pairs(split) for p in (usual, other))
        assert list(itertools.islice(ours, 100)) == list(itertools.islice(theirs, 100))
    assert all(other.sizes[split] == usual.sizes[split] for split in ("dev", "test"))


def test_the_next_command_after_ten_thousand_pairs_has_a_set_for_them():
    problem = get_problem("translate_ende_grammar10k")
    made = Manifest("p", {"shared_vocab": True}, splits={"train": {"pairs": 10_000}})
    *_, line = next_steps(problem, made, pathlib.Path("data"))
    assert "--hparams_set=transformer_10k --train_steps=6000" in line
