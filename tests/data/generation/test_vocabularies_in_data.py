"""One vocabulary or two, of subwords or words, from the command to records."""

import random

import pytest
import tensorflow as tf
from stored_pairs import stored_pairs
from toy_run import call

import t2t_phrase_grammar as grammar
from t2t_phrase.bin import datagen
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import get_problem
from t2t_phrase.text.in_graph.encoders import make_tf_encoder
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.words.encoder import WordEncoder

NAME = "translate_text"


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    for split, size in (("train", 80), ("dev", 6)):
        for suffix, side in (("src", "source"), ("tgt", "target")):
            lines = [
                " ".join(grammar.tokenize(getattr(pair, side)))
                for pair in grammar.generate(split, size)
            ]
            if split == "dev":
                lines[0] += " Xyzzy Plugh"
            (folder / f"{split}.{suffix}").write_text("".join(f"{line}\n" for line in lines))
    return folder


def run(raw, data, *flags):
    call(datagen, f"--problem={NAME}", f"--tmp_dir={raw}", f"--data_dir={data}", *flags)


def lines_of(raw, split):
    return [(raw / f"{split}.{side}").read_text().split("\n")[:-1] for side in ("src", "tgt")]


def test_a_size_by_the_corpus_has_room_for_its_characters(tmp_path, capsys):
    draw = random.Random(0)
    characters = [chr(0x4E00 + number) for number in range(1500)]
    for split, size in (("train", 300), ("dev", 2)):
        lines = ["".join(draw.choices(characters, k=20)) for _ in range(size)]
        for side in ("src", "tgt"):
            (tmp_path / f"{split}.{side}").write_text("".join(f"{line}\n" for line in lines))
        if split == "train":
            used = {character for line in lines for character in line}
    run(tmp_path, tmp_path / "data")
    # The special pieces and bytes, the characters, the mark of a blank; and half of 1,000.
    size = 259 + len(used) + 1 + 500
    assert len(used) > 1400 and f"learning {size:,} joint subwords" in capsys.readouterr().out
    encoder = get_problem(NAME).vocabularies(str(tmp_path / "data")).source
    assert all(encoder.encode(character) for character in used)
    assert encoder.vocab_size == size
    with pytest.raises(UserError, match=f"joint vocabulary: .*too small: .* at least {size - 500}"):
        run(tmp_path, tmp_path / "other", "--vocab_size=1000")


def test_two_word_vocabularies(raw, tmp_path, capsys):
    flags = ("--vocab_type=words", "--noshared_vocab", "--vocab_size=90", "--target_vocab_size=70")
    run(raw, tmp_path, *flags)
    said = capsys.readouterr().out
    for text in ("learning 90 src words from 80 sentence pairs", "70 tgt words"):
        assert text in said
    assert f"vocab.{NAME}.src.90.txt: 90 src words" in said
    problem = get_problem(NAME)
    source, target = problem.vocabularies(str(tmp_path))
    assert type(source) is type(target) is WordEncoder
    assert (source.vocab_size, target.vocab_size) == (90, 70)
    assert (tmp_path / f"vocab.{NAME}.tgt.70.txt").read_bytes() == target.model_bytes
    # The most frequent words of each side, and of that side only.
    for encoder, lines in zip((source, target), lines_of(raw, "train"), strict=True):
        words = " ".join(lines).split()
        least = min(words.count(word) for word in encoder.words[3:])
        assert least >= max(words.count(word) for word in words if word not in encoder.words)

    (shard,) = problem.record_files(str(tmp_path), "dev")
    texts = problem.raw_text(str(tmp_path), "dev")
    assert texts == tuple(lines_of(raw, "dev"))
    unknown = 0
    for number, pair in enumerate(stored_pairs(shard)):
        for ids, encoder, lines in zip(pair, (source, target), texts, strict=True):
            words = lines[number].split()
            assert len(ids) == len(words) + 1 and ids[-1] == 1
            for i, word in zip(ids, words, strict=False):
                assert encoder.words[i] == word or (i == 2 and word not in encoder.words)
            unknown += ids.count(2)
            in_graph = make_tf_encoder(encoder.model_bytes)
            assert in_graph.encode(tf.constant([lines[number]])).to_list() == [ids[:-1]]
            (decoded,) = in_graph.decode(tf.constant([ids], tf.int32)).numpy()
            assert decoded.decode() == encoder.decode(ids)
    assert unknown > 4
    first = next(stored_pairs(shard))[0]
    assert first[-3:] == [2, 2, 1] and source.decode(first).endswith("<unk> <unk>")

    reverse = get_problem(f"{NAME}_rev").vocabularies(str(tmp_path))
    assert [e.vocab_size for e in reverse] == [70, 90] and not reverse.shared
    run(raw, tmp_path, *flags)
    assert "complete" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"shared_vocab: False -> True; target_vocab_size: 70 -> 0"):
        run(raw, tmp_path, "--vocab_type=words", "--vocab_size=90")


def test_a_lost_vocabulary_is_learnt_again(raw, tmp_path):
    flags = ("--vocab_type=words", "--noshared_vocab", "--vocab_size=90", "--num_shards=2")
    run(raw, tmp_path, *flags)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("[!.]*")}
    assert f"vocab.{NAME}.tgt.90.txt" in before
    (tmp_path / f"vocab.{NAME}.tgt.90.txt").unlink()
    run(raw, tmp_path, *flags)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("[!.]*")} == before


def test_joint_words_and_two_vocabularies_of_subwords(raw, tmp_path):
    run(raw, tmp_path / "words", "--vocab_type=words", "--vocab_size=120")
    joint = get_problem(NAME).vocabularies(str(tmp_path / "words"))
    assert joint.shared and type(joint.source) is WordEncoder and joint.source.vocab_size == 120
    assert (tmp_path / "words" / f"vocab.{NAME}.120.txt").exists()

    run(raw, tmp_path / "two", "--noshared_vocab", "--vocab_size=320", "--target_vocab_size=340")
    two = get_problem(NAME).vocabularies(str(tmp_path / "two"))
    assert not two.shared and all(type(encoder) is SubwordEncoder for encoder in two)
    assert [encoder.vocab_size for encoder in two] == [320, 340]
    (shard,) = get_problem(NAME).record_files(str(tmp_path / "two"), "dev")
    for column, lines in enumerate(lines_of(raw, "dev")):
        assert [two[column].decode(pair[column]) for pair in stored_pairs(shard)] == lines


def test_joint_subwords_are_as_ever(raw, tmp_path, capsys):
    run(raw, tmp_path, "--vocab_size=400")
    assert f"vocab.{NAME}.400.model: 400 joint subwords" in capsys.readouterr().out
    joint = get_problem(NAME).vocabularies(str(tmp_path))
    assert joint.shared and type(joint.source) is SubwordEncoder
    run(raw, tmp_path, "--vocab_size=400")
    assert "complete" in capsys.readouterr().out


def test_a_target_size_needs_a_target_vocabulary(raw, tmp_path):
    with pytest.raises(UserError, match=r"--target_vocab_size=9: .*add --noshared_vocab"):
        run(raw, tmp_path, "--target_vocab_size=9")


@pytest.mark.parametrize("kind", ["subwords", "unigram", "words"])
def test_user_defined_symbols(raw, tmp_path, kind, capsys):
    flags = (f"--vocab_type={kind}", "--vocab_size=350")
    run(raw, tmp_path, *flags, "--user_defined_symbols=<BT>,<2de>")
    encoder = get_problem(NAME).vocabularies(str(tmp_path)).source
    assert encoder.encode("<2de> <BT>") == [4, 3]
    capsys.readouterr()
    run(raw, tmp_path, *flags, "--user_defined_symbols=<BT>,<2de>")
    assert "complete" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"user_defined_symbols: \['<BT>', '<2de>'\] -> "):
        run(raw, tmp_path, *flags)
    with pytest.raises(UserError, match=r"--user_defined_symbols: cannot be used with --vocab_fr"):
        run(raw, tmp_path / "new", f"--vocab_from={tmp_path}", "--user_defined_symbols=<BT>")


def test_a_problem_may_have_symbols(raw, tmp_path, monkeypatch):
    monkeypatch.setattr(type(get_problem(NAME)), "user_defined_symbols", ("<BT>",))
    run(raw, tmp_path, "--vocab_size=350")
    assert get_problem(NAME).vocabularies(str(tmp_path)).source.encode("<BT>") == [3]


@pytest.mark.parametrize(
    ("symbols", "message"),
    [("<BT>", "must be a tuple, such as"), (("a b",), "'a b' is not a single word")],
)
def test_symbols_of_a_problem_are_checked(raw, tmp_path, monkeypatch, symbols, message):
    monkeypatch.setattr(type(get_problem(NAME)), "user_defined_symbols", symbols)
    with pytest.raises(UserError, match=f"problem {NAME}: user_defined_symbols.*{message}"):
        run(raw, tmp_path)
