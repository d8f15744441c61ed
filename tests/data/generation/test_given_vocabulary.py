"""Vocabularies that are given to datagen, and the size that suits a corpus."""

import json

import pytest
from sentencepiece import sentencepiece_model_pb2
from t2t_pieces import t2t_subwords

from t2t_phrase.config import UserError
from t2t_phrase.corpus_sizes import AUTO, SIZES, corpus_size, vocabulary_size
from t2t_phrase.data.generation import vocabulary as vocabularies
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.whole_generation import WholeGeneration
from t2t_phrase.data.problem import get_problem
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import (
    JOINT_FILE,
    SIDE_FILES,
    T2T_TARGET_VOCABULARY,
    T2T_VOCABULARY,
)
from t2t_phrase.text.words.training import train_words

LINES = [f"the {colour} house number {n}" for n in range(30) for colour in ("red", "blue")]


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    for split in ("train", "dev"):
        for side in ("src", "tgt"):
            (folder / f"{split}.{side}").write_text("\n".join(LINES) + "\n")
    return folder


def make(corpus, data_dir, **options):
    said = []
    generate(
        get_problem("translate_text"),
        str(data_dir),
        str(corpus),
        options=GenerateOptions(**options),
        log=said.append,
    )
    return said


def vocabulary(size):
    return train_subwords(LINES, vocab_size=size)


def manifest(data_dir):
    return json.loads((data_dir / "translate_text-manifest.json").read_text())


def test_a_file_is_used_as_it_is(corpus, tmp_path):
    given = tmp_path / "mine.model"
    given.write_bytes(vocabulary(300))
    said = make(corpus, tmp_path / "data", vocab_file=(str(given),))
    (entry,) = manifest(tmp_path / "data")["vocabulary"]
    assert (tmp_path / "data" / entry["file"]).read_bytes() == given.read_bytes()
    size = f"{entry['size']} entries of the given vocabulary"
    assert any(size in line for line in said)
    problem = get_problem("translate_text")
    assert problem.vocabularies(str(tmp_path / "data")).source.model_bytes == given.read_bytes()


def test_symbols_that_a_given_vocabulary_lacks_are_named(corpus, tmp_path, monkeypatch):
    symbols = ("<BT>", "<2de>")
    monkeypatch.setattr(type(get_problem("translate_text")), "user_defined_symbols", symbols)
    given = tmp_path / "mine.model"
    given.write_bytes(train_subwords(LINES, vocab_size=300, user_defined_symbols=["<2de>"]))
    said = make(corpus, tmp_path / "data", vocab_file=(str(given),))
    (line,) = (line for line in said if "no entry for" in line)
    assert line.endswith("has no entry for <BT>, which the problem defines as symbols")


def test_two_files_are_for_source_and_target(corpus, tmp_path):
    paths = [tmp_path / "a.model", tmp_path / "b.model"]
    for path, size in zip(paths, (290, 300), strict=True):
        path.write_bytes(vocabulary(size))
    make(corpus, tmp_path / "data", vocab_file=tuple(map(str, paths)))
    found = get_problem("translate_text").vocabularies(str(tmp_path / "data"))
    assert not found.shared
    assert [encoder.model_bytes for encoder in found] == [path.read_bytes() for path in paths]


def test_from_other_data_and_from_a_run(corpus, tmp_path):
    make(corpus, tmp_path / "first", vocab_size=300)
    make(corpus, tmp_path / "second", vocab_from=str(tmp_path / "first"))
    first, second = (manifest(tmp_path / name)["vocabulary"][0] for name in ("first", "second"))
    assert first["sha256"] == second["sha256"]
    run = tmp_path / "run"
    run.mkdir()
    (run / JOINT_FILE).write_bytes(vocabulary(284))
    make(corpus, tmp_path / "third", vocab_from=str(run))
    assert manifest(tmp_path / "third")["vocabulary"][0]["sha256"] != first["sha256"]


def test_the_vocabularies_of_a_reversed_run_are_exchanged(corpus, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for name, size in zip(SIDE_FILES, (284, 290), strict=True):
        (run / name).write_bytes(vocabulary(size))
    (run / "hparams.json").write_text('{"problem": "translate_text_rev"}')
    make(corpus, tmp_path / "data", vocab_from=str(run))
    found = get_problem("translate_text").vocabularies(str(tmp_path / "data"))
    assert found.source.model_bytes == (run / SIDE_FILES[1]).read_bytes()


def test_a_file_of_the_user_is_not_overwritten(corpus, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    mine = data / "vocab.translate_text.300.model"
    mine.write_bytes(vocabulary(284))
    with pytest.raises(UserError, match=r"exists and was not made from this corpus.*--vocab_file"):
        make(corpus, data, vocab_size=300)
    assert mine.read_bytes() == vocabulary(284)


def test_a_given_vocabulary_survives_a_new_start(corpus, tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    mine = data / "vocab.translate_text.284.model"
    mine.write_bytes(vocabulary(284))
    with monkeypatch.context() as patch:
        patch.setattr(WholeGeneration, "_write_shards", kill)
        with pytest.raises(KeyboardInterrupt):
            make(corpus, data, vocab_file=(str(mine),))
    said = make(corpus, data, vocab_file=(str(mine),), num_shards=2)
    assert "an unfinished run had different options" in said[0]
    assert mine.read_bytes() == vocabulary(284)


def test_a_vocabulary_that_an_unfinished_run_has_learnt_can_be_given(corpus, tmp_path, monkeypatch):
    data = tmp_path / "data"
    with monkeypatch.context() as patch:
        patch.setattr(WholeGeneration, "_write_shards", kill)
        with pytest.raises(KeyboardInterrupt):
            make(corpus, data, vocab_size=284)
    (learnt,) = data.glob("vocab.*")
    content = learnt.read_bytes()
    said = make(corpus, data, vocab_file=(str(learnt),))
    assert "an unfinished run had different options" in said[0]
    assert learnt.read_bytes() == content


def kill(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_file": ("a", "b", "c")}, "3 files"),
        ({"vocab_file": ("a",), "vocab_from": "b"}, "cannot be used together"),
        ({"vocab_file": ("a",), "vocab_size": 300}, "--vocab_size: cannot be used"),
        ({"vocab_file": ("a",), "shared_vocab": False}, "--shared_vocab: cannot be used"),
        ({"vocab_file": ("missing",)}, "cannot read the vocabulary missing"),
        ({"vocab_from": "missing"}, "has no vocabulary"),
    ],
)
def test_mistakes(corpus, tmp_path, options, message):
    with pytest.raises(UserError, match=message):
        make(corpus, tmp_path / "data", **options)


def test_sizes_grow_with_the_corpus():
    pairs = [100, 2000, 10_000, 29_000, 100_000, 1_000_000, 40_000_000]
    sizes = [vocabulary_size(count) for count in pairs]
    assert sizes == sorted(sizes) and sizes[1] == 2000 and sizes[3] == 8000
    assert [corpus_size(count).name for count in pairs] == [
        *("3k", "3k", "10k", "30k", "100k", "1m", "1m")
    ]
    assert [size.most_pairs for size in SIZES] == sorted(size.most_pairs for size in SIZES)


def test_the_default_size_is_that_of_the_corpus(corpus, tmp_path):
    said = make(corpus, tmp_path / "data")
    assert any("learning 1,000 joint subwords" in line for line in said)
    assert any("--hparams_set=transformer_3k --train_steps=" in line for line in said)
    assert GenerateOptions(vocab_size=AUTO).vocab_size == AUTO


def test_files_that_are_not_read_are_named(corpus, tmp_path):
    (corpus / "train.align").write_text("0-0\n")
    (corpus / "notes").write_text("mine\n")
    said = make(corpus, tmp_path / "data")
    (line,) = [line for line in said if "is not read" in line]
    assert line.endswith("train.align is not read; did you mean train.tgt.align?")


def test_only_names_that_would_be_read_are_suggested(corpus, tmp_path):
    for name in ("train.src.align", "train.tgt.trees", "dev.tgt.0", "dev.en"):
        (corpus / name).write_text("0-0\n")
    said = make(corpus, tmp_path / "data")
    assert [line.rpartition("/")[2] for line in said if "is not read" in line] == [
        "dev.en is not read",
        "dev.tgt.0 is not read",
        "train.src.align is not read; did you mean train.tgt.align?",
        "train.tgt.trees is not read; did you mean train.src.trees?",
    ]


def test_parts_come_as_often_as_their_weights_say(corpus, tmp_path):
    listed = {
        "train": [["train.src", "train.tgt"], ["dev.src", "dev.tgt"]],
        "dev": [["dev.src", "dev.tgt"]],
        "weights": [1, 3],
    }
    (corpus / "translate_text.json").write_text(json.dumps(listed))
    make(corpus, tmp_path / "data")
    assert manifest(tmp_path / "data")["splits"]["train"]["pairs"] == 4 * len(LINES)


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, 1.5], "1,2"])
def test_wrong_weights(corpus, tmp_path, weights):
    listed = {
        "train": [["train.src", "train.tgt"], ["dev.src", "dev.tgt"]],
        "dev": [["dev.src", "dev.tgt"]],
        "weights": weights,
    }
    (corpus / "translate_text.json").write_text(json.dumps(listed))
    with pytest.raises(UserError, match="'weights' must be a list of 2 integers"):
        make(corpus, tmp_path / "data")


def test_a_kill_between_two_vocabularies_leaves_none_behind(corpus, tmp_path, monkeypatch):
    learned = []

    def learn(text, **options):
        learned.append(list(text))
        if len(learned) == 2:
            raise KeyboardInterrupt
        return train_subwords(LINES, vocab_size=300)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(vocabularies, "learn_vocabulary", learn)
        make(corpus, tmp_path / "data", shared_vocab=False)
    # Another corpus has another vocabulary.
    (corpus / "train.src").write_text("ein anderer Satz\n" * len(LINES))
    make(corpus, tmp_path / "data", shared_vocab=False)
    assert manifest(tmp_path / "data")["complete"]


def test_a_kill_after_the_first_vocabulary_leaves_one_that_is_replaced(
    corpus, tmp_path, monkeypatch
):
    def fail(vocabulary):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        write = vocabularies.write
        patch.setattr(vocabularies, "write", lambda *args: write(*args) or fail(args))
        make(corpus, tmp_path / "data", shared_vocab=False)
    assert len(list((tmp_path / "data").glob("vocab.*.model"))) == 1
    (corpus / "train.src").write_text("ein anderer Satz\n" * len(LINES))
    make(corpus, tmp_path / "data", shared_vocab=False)
    assert manifest(tmp_path / "data")["complete"]


def test_a_vocabulary_that_changes_text_is_noted(corpus, tmp_path):
    proto = sentencepiece_model_pb2.ModelProto.FromString(vocabulary(300))
    proto.normalizer_spec.name = "mine"
    given = tmp_path / "mine.model"
    given.write_bytes(proto.SerializeToString())
    said = make(corpus, tmp_path / "data", vocab_file=(str(given),))
    assert any("changes text by the rules mine" in line for line in said)


@pytest.fixture
def imported(tmp_path):
    """The folder of a run with a tensor2tensor vocabulary for each language."""
    run = tmp_path / "imported"
    run.mkdir()
    (run / T2T_VOCABULARY).write_bytes(t2t_subwords().model_bytes)
    (run / T2T_TARGET_VOCABULARY).write_bytes(t2t_subwords("red_").model_bytes)
    return run


def test_both_vocabularies_of_an_imported_run(corpus, tmp_path, imported, monkeypatch):
    monkeypatch.setattr(type(get_problem("translate_text")), "user_defined_symbols", ("<BT>",))
    given = {"vocab_from": str(imported)}
    said = make(corpus, tmp_path / "data", **given)
    found = get_problem("translate_text").vocabularies(str(tmp_path / "data"))
    expected = [t2t_subwords().model_bytes, t2t_subwords("red_").model_bytes]
    assert [encoder.model_bytes for encoder in found] == expected
    assert manifest(tmp_path / "data")["options"]["vocab_type"] == "t2t_subwords"
    assert any("has no entry for <BT>" in line for line in said)
    assert any("subwords of tensor2tensor" in line for line in said)
    assert any("nothing to do" in line for line in make(corpus, tmp_path / "data", **given))


def test_what_subwords_of_tensor2tensor_cannot_do(corpus, tmp_path, imported):
    given = {"vocab_from": str(imported)}
    with pytest.raises(UserError, match="tensor2tensor's own subwords allow one segmentation"):
        make(corpus, tmp_path / "data", sampled_segmentations=1, **given)
    with pytest.raises(UserError, match="user_defined_symbols: cannot be used with --vocab_from"):
        make(corpus, tmp_path / "data", user_defined_symbols=("<BT>",), **given)
    words = tmp_path / "words"
    words.write_bytes(train_words(LINES, vocab_size=20))
    files = (str(imported / T2T_VOCABULARY), str(words))
    with pytest.raises(UserError, match="different kinds, tensor2tensor's subwords and words"):
        make(corpus, tmp_path / "data", vocab_file=files)


def test_side_files_do_not_go_with_subwords_of_tensor2tensor(corpus, tmp_path, imported):
    make(corpus, tmp_path / "data", vocab_from=str(imported))
    before = manifest(tmp_path / "data")
    for split in ("train", "dev"):
        (corpus / f"{split}.tgt.align").write_text("0-0\n" * len(LINES))
    for name in ("data", "other"):
        with pytest.raises(UserError, match=r"side files \(.*\), but tensor2tensor's own subwords"):
            make(corpus, tmp_path / name, vocab_from=str(imported))
    assert manifest(tmp_path / "data") == before
