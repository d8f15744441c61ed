"""Fine-tuning of an imported checkpoint with tensor2tensor's own subwords, by the commands."""

import json

import pytest
from stored_pairs import stored_pairs
from t2t_checkpoint import make_checkpoint
from t2t_pieces import PIECES, t2t_subwords
from toy_run import call

import t2t_phrase
from t2t_phrase.bin import avg, datagen, exporter, import_t2t, trainer
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.runs.load_model import load_model
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.text.vocabularies import Vocabularies

SIZES = "hidden_size=8,filter_size=12,num_heads=2,num_hidden_layers=2"
LINES = [f"the {word} {number}" for number in range(12) for word in ("dogs", "house", "dog's")]


def write_corpus(folder):
    folder.mkdir()
    for split, lines in (("train", LINES), ("dev", LINES[:2])):
        for side in ("src", "tgt"):
            (folder / f"{split}.{side}").write_text("".join(f"  {line} \n" for line in lines))


def generate(folder, name, *more):
    call(
        datagen,
        "--problem=translate_text",
        f"--tmp_dir={folder / 'raw'}",
        f"--data_dir={folder / name}",
        "--num_shards=1",
        *more,
    )


def train(folder, name, *more, steps=2, hparams="", data="data"):
    call(
        trainer,
        "--problem=translate_text",
        "--hparams_set=transformer_tiny",
        f"--hparams={SIZES},batch_size=64,max_length=32{hparams}",
        f"--data_dir={folder / data}",
        f"--output_dir={folder / name}",
        f"--train_steps={steps}",
        "--schedule=train",
        "--local_eval_frequency=1",
        "--report=",
        *more,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with an imported run and data with its vocabulary."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "t2t").mkdir()
    make_checkpoint(vocab_size=len(PIECES), seed=3).write(folder / "t2t")
    (folder / "vocab").write_bytes(t2t_subwords().model_bytes)
    call(
        import_t2t,
        f"--checkpoint_path={folder / 't2t'}",
        f"--hparams={SIZES}",
        f"--vocab_file={folder / 'vocab'}",
        f"--output_dir={folder / 'imported'}",
    )
    write_corpus(folder / "raw")
    generate(folder, "data", f"--vocab_from={folder / 'imported'}")
    return folder


@pytest.fixture(scope="module")
def tuned(made):
    """The folder, with a run that starts from the imported one, and what was printed."""
    train(made, "tuned", f"--warm_start_from={made / 'imported'}")
    return made


def test_the_data_hold_the_ids_of_the_subwords(made):
    subwords = t2t_subwords()
    found = sorted(stored_pairs(made / "data" / "translate_text-train-00000-of-00001"))
    assert found == sorted(([*subwords.encode(x), 1], [*subwords.encode(x), 1]) for x in LINES)
    (entry,) = json.loads((made / "data" / "translate_text-manifest.json").read_text())[
        "vocabulary"
    ]
    assert entry["file"] == f"vocab.translate_text.{len(PIECES)}.subwords"
    assert (made / "data" / entry["file"]).read_bytes() == (made / "vocab").read_bytes()


def test_a_file_gives_the_same_data(made):
    generate(made, "again", f"--vocab_file={made / 'vocab'}")
    first, second = (
        (made / name / "translate_text-train-00000-of-00001").read_bytes()
        for name in ("data", "again")
    )
    assert first == second


def test_all_weights_are_taken_and_trained(tuned):
    log = (tuned / "tuned" / "train.log").read_text()
    assert f"warm start from {tuned}/imported/model.ckpt-700: " in log
    line = next(line for line in log.split("\n") if "warm start from" in line)
    taken, _, total = line.rpartition(": ")[2].partition(" variables taken")[0].split()[:3]
    assert taken == total and "start from random" not in line
    record = RunRecord.load(tuned / "tuned")
    assert record.vocab_size == len(PIECES)
    assert record.vocabulary == RunRecord.load(tuned / "imported").vocabulary


def test_the_run_translates_without_its_data(tuned):
    lines = ["the dogs", "", " a house, the house "]
    found = t2t_phrase.load(str(tuned / "tuned")).translate(lines)
    translator = Translator(
        load_model(tuned / "tuned").model, Vocabularies(*2 * [t2t_subwords()]), DecodeHParams()
    )
    assert list(found) == [best[0].text for best in translator.translate(lines)]


def test_the_run_is_averaged_scored_and_resumed(tuned):
    call(avg, f"--output_dir={tuned / 'tuned'}", "--num_last_checkpoints=2")
    averaged = t2t_phrase.load(tuned / "tuned" / "averaged")
    assert averaged.vocabularies.source.model_bytes == t2t_subwords().model_bytes
    scores = averaged.score([("the dogs", "the house"), ("the dogs", "a")])
    assert all(score < 0 for score in scores)
    train(tuned, "tuned", steps=3)
    assert t2t_phrase.load(tuned / "tuned").trained.step == 3


def test_the_run_is_not_exported(tuned, tmp_path):
    with pytest.raises(UserError, match="tensor2tensor's own subwords cannot be exported"):
        call(exporter, f"--output_dir={tuned / 'tuned'}", f"--export_dir={tmp_path}")


def test_what_needs_other_vocabularies_is_refused(made, tmp_path):
    warm = f"--warm_start_from={made / 'imported'}"
    with pytest.raises(UserError, match=r"source_word_dropout=0\.1: tensor2tensor's own subwords"):
        train(made, "dropped", warm, hparams=",source_word_dropout=0.1")
    (tmp_path / "longer").write_bytes(t2t_subwords("cat_").model_bytes)
    generate(made, "longer", f"--vocab_file={tmp_path / 'longer'}")
    with pytest.raises(UserError, match=r"different vocabulary.*--vocab_from="):
        train(made, "longer", warm, data="longer")
