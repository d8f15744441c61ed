import collections
import json
import os
import pathlib
import random
import re

import pytest
from stored_pairs import stored_pairs

from t2t_phrase.config import UserError
from t2t_phrase.data.generation import vocabulary
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus, Pair
from t2t_phrase.data.sources.inputs import Inputs

WORDS = ["der", "die", "das", "Haus", "See", "geht", "steht", "blau", "alt", "neu", "Kind"]


class _Memory(Corpus):
    def __init__(self, sizes):
        self.sizes = sizes

    def splits(self):
        return tuple(self.sizes)

    def side_streams(self):
        return ("side",)

    def pairs(self, split):
        rng = random.Random(split)
        for line in range(1, self.sizes[split] + 1):
            target = " ".join(rng.choices(WORDS, k=rng.randint(1, 8)))
            references = (target, f"{target}!") if split == "test" else (target,)
            names = ("en", *["de"] * len(references))
            yield Pair((f"{split} {line}", *references), names, line, (f"{split}-{line}",))


class Toy(Problem):
    languages = ("en", "de")
    vocab_size = 320
    num_shards = 4
    sizes = {"train": 103, "dev": 5, "test": 6}  # noqa: RUF012
    inputs = Inputs()

    def corpus(self, tmp_dir):
        return _Memory(self.sizes)

    def inputs_at_hand(self, tmp_dir):
        return self.inputs


def make(folder, problem=None, **options):
    messages = []
    problem = problem or Toy()
    manifest = generate(
        problem, str(folder), "", options=GenerateOptions(**options), log=messages.append
    )
    return manifest, messages


def content(folder):
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return folder, *make(folder)


def test_records_hold_every_pair_with_eos(made):
    folder, manifest, _ = made
    problem = Toy()
    encoder = problem.vocabularies(str(folder)).source
    files = problem.record_files(str(folder), "train")
    assert [os.path.basename(f) for f in files] == [f"toy-train-0000{i}-of-00004" for i in range(4)]
    found = [pair for file in files for pair in stored_pairs(file)]
    assert all(side[-1] == 1 and side.count(1) == 1 for pair in found for side in pair)
    texts = collections.Counter((encoder.decode(a), encoder.decode(b)) for a, b in found)
    assert texts == collections.Counter(p.texts for p in _Memory(Toy.sizes).pairs("train"))
    sources = [encoder.decode(a) for a, _ in found]
    assert sources != sorted(sources, key=lambda text: int(text.split()[1]))
    shards = manifest.splits["train"]["shards"]
    assert sum(shard["records"] for shard in shards) == 103
    assert sum(shard["source_tokens"] for shard in shards) == sum(len(a) for a, _ in found)


def test_text_is_kept_in_order_with_all_references_and_side_files(made):
    folder = made[0]
    problem = Toy()
    sources, references = problem.raw_text(str(folder), "test")
    assert sources == [f"test {line}" for line in range(1, 7)]
    assert problem.raw_references(str(folder), "test") == [
        references,
        [f"{text}!" for text in references],
    ]
    encoder = problem.vocabularies(str(folder)).source
    (shard,) = problem.record_files(str(folder), "test")
    assert [encoder.decode(a) for a, _ in stored_pairs(shard)] == sources
    side = (folder / "toy-train.side").read_text().split()
    assert side == [f"train-{line}" for line in range(1, 104)]
    assert problem.raw_text(str(folder), "train")[0][6] == "train 7"


def test_reversed_shares_the_files(made):
    folder = made[0]
    problem, reverse = Toy(), Toy(reversed=True)
    assert reverse.name == "toy_rev" and reverse.base_name == "toy"
    assert (reverse.source_language, reverse.target_language) == ("de", "en")
    assert reverse.record_files(str(folder), "dev") == problem.record_files(str(folder), "dev")
    sources, references = problem.raw_text(str(folder), "test")
    assert reverse.raw_text(str(folder), "test") == (references, sources)
    assert reverse.raw_references(str(folder), "test") == [sources]


def test_summary_says_what_was_written(made):
    text = "\n".join(made[2])
    assert "toy: encoded: 114 of 114 sentence pairs" in text
    assert "toy-train-*: 4 shards, 103 pairs" in text
    assert "sentence pairs, " in text and "a second" in text
    assert "vocab.toy.320.model" in text
    assert "t2t-phrase-trainer --problem=toy" in text
    assert not list(made[0].glob(".toy-work"))


def test_a_second_run_does_nothing(made):
    before = content(made[0])
    _, messages = make(made[0])
    assert messages == [f"toy: complete in {made[0]}, nothing to do"]
    assert content(made[0]) == before


@pytest.mark.slow
def test_workers_make_the_same_bytes(made, tmp_path):
    make(tmp_path, num_workers=2)
    assert content(tmp_path) == content(made[0])


def test_the_vocabulary_does_not_depend_on_the_shards(tmp_path):
    class Sampled(Toy):
        vocab_pairs = 40

    for shards in (3, 8):
        make(tmp_path / str(shards), Sampled(), num_shards=shards)
    one, two = (next((tmp_path / s).glob("vocab*")).read_bytes() for s in ("3", "8"))
    assert one == two


def test_a_vocabulary_is_learned_from_about_as_many_pairs_as_asked_for(tmp_path, monkeypatch):
    class Sampled(Toy):
        vocab_pairs = 400
        sizes = Toy.sizes | {"train": 1000}

    def learn(text, **options):
        lines.extend(text)
        return original(lines, **options)

    lines, original = [], vocabulary.learn_vocabulary
    monkeypatch.setattr(vocabulary, "learn_vocabulary", learn)
    _, messages = make(tmp_path, Sampled())
    assert any("from about 400 of 1,000 sentence pairs" in message for message in messages)
    # Both sides; six standard deviations of what is drawn.
    assert abs(len(lines) - 2 * 400) < 2 * 6 * (1000 * 0.4 * 0.6) ** 0.5


def test_restart_redoes_what_is_missing_or_damaged(made, tmp_path):
    make(tmp_path)
    manifest = json.loads((tmp_path / "toy-manifest.json").read_text())
    manifest["complete"] = False
    manifest["splits"]["train"]["shards"][0] = None
    (tmp_path / "toy-manifest.json").write_text(json.dumps(manifest))
    shards = sorted(tmp_path.glob("toy-train-*"))
    shards[1].write_bytes(b"damaged")
    kept = shards[2].stat().st_mtime_ns
    with pytest.raises(UserError, match=r"only unfinished data of toy .*t2t-phrase-datagen"):
        Toy().record_files(str(tmp_path), "train")
    _, messages = make(tmp_path)
    assert any("train: kept 2 of 4 shards" in message for message in messages)
    assert shards[2].stat().st_mtime_ns == kept
    assert content(tmp_path) == content(made[0])


def test_finished_data_that_was_damaged_is_repaired(made, tmp_path):
    make(tmp_path)
    (tmp_path / "toy-dev.de").unlink()
    next(tmp_path.glob("vocab*")).unlink()
    make(tmp_path)
    assert content(tmp_path) == content(made[0])


def test_other_options_are_refused_by_name(made):
    with pytest.raises(UserError, match=r"num_shards: 4 -> 5; random_seed: 429459 -> 1"):
        make(made[0], num_shards=5, random_seed=1)


def test_other_inputs_are_refused_by_name(tmp_path):
    class Watched(Toy):
        inputs = Inputs({"train.en": "1"})

        def corpus(self, tmp_dir):
            corpus = super().corpus(tmp_dir)
            corpus.inputs = lambda: self.inputs
            return corpus

    make(tmp_path, Watched())
    Watched.inputs = Inputs({"train.en": "2"})
    with pytest.raises(UserError, match=r"not those that watched in .*\(changed: train\.en\)"):
        make(tmp_path, Watched())


def test_the_files_that_are_in_the_way_of_other_data_are_named(tmp_path):
    make(tmp_path)
    with pytest.raises(UserError, match=r"delete toy-manifest\.json there"):
        make(tmp_path, vocab_from=str(tmp_path))
    with pytest.raises(UserError) as refused:
        make(tmp_path, max_cases=10)
    (names,) = re.findall("delete (.*) there", str(refused.value))
    for name in names.split(" and "):
        (tmp_path / name).unlink()
    manifest, _ = make(tmp_path, max_cases=10)
    assert manifest.splits["train"]["pairs"] == 10


def test_max_cases_limits_training_only(tmp_path):
    manifest, _ = make(tmp_path, max_cases=10)
    assert {s: e["pairs"] for s, e in manifest.splits.items()} == {"train": 10, "dev": 5, "test": 6}


def test_a_full_disk_is_named_and_finished_shards_are_kept(made, tmp_path):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    blocked = tmp_path / "toy-train-00002-of-00004.tmp"
    blocked.symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"no space left while writing .*00002-of-00004 .*again"):
        make(tmp_path)
    shards = sorted(tmp_path.glob("toy-train-0000*"))
    assert [shard.name[-10] for shard in shards] == ["0", "1"]
    blocked.unlink(missing_ok=True)
    _, messages = make(tmp_path)
    assert any("kept 2 of 4" in message for message in messages)
    assert content(tmp_path) == content(made[0])


def test_two_writers_do_not_meet(tmp_path):
    class Nested(Toy):
        def corpus(self, tmp_dir):
            make(tmp_path, Nested())
            return super().corpus(tmp_dir)

    with pytest.raises(UserError, match="another process is writing nested"):
        make(tmp_path, Nested())


def test_missing_data_names_the_command(tmp_path):
    problem = Toy(reversed=True)
    assert not problem.has_data(str(tmp_path))
    with pytest.raises(UserError, match=f"t2t-phrase-datagen --problem=toy --data_dir={tmp_path}"):
        problem.vocabularies(str(tmp_path))


def test_unknown_split_is_named(made):
    assert Toy().has_data(str(made[0]))
    with pytest.raises(UserError, match=r"no 'valid' split in .*it has train, dev, test"):
        Toy().record_files(str(made[0]), "valid")


class _Counted(str):
    """A text that knows how many of its kind are alive."""

    alive = most = 0

    def __init__(self, _):
        _Counted.alive += 1
        _Counted.most = max(_Counted.most, _Counted.alive)

    def __del__(self):
        _Counted.alive -= 1


class _CountedCorpus(_Memory):
    def pairs(self, split):
        for pair in super().pairs(split):
            yield pair._replace(texts=tuple(map(_Counted, pair.texts)))


def test_the_corpus_is_not_held_in_memory(tmp_path):
    class Large(Toy):
        sizes = {"train": 3000, "dev": 1, "test": 1}  # noqa: RUF012

        def corpus(self, tmp_dir):
            return _CountedCorpus(self.sizes)

    make(tmp_path, Large())
    assert 0 < _Counted.most < 20


def test_options_out_of_range_are_refused():
    with pytest.raises(UserError, match=r"num_shards=401 is not in 0..400; max_cases=-1 is neg"):
        GenerateOptions(num_shards=401, max_cases=-1)


@pytest.mark.parametrize("steps", [0, 700])
def test_the_end_names_the_recommended_training(tmp_path, steps):
    class Short(Toy):
        hparams_set = "transformer_demo"
        train_steps = steps

    _, messages = make(tmp_path, Short())
    flags = f" --train_steps={steps}" if steps else ""
    assert messages[-1].endswith(f" --hparams_set=transformer_demo{flags} --output_dir=...")
    assert any("-dev-*: 1 shard, 5 pairs" in message for message in messages)
    assert any("-train-*: 4 shards, 103 pairs" in message for message in messages)
