import hashlib

import pytest
from toy_run import WORDS

from t2t_phrase.config import UserError
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.vocabulary import (
    T2T_TARGET_VOCABULARY,
    T2T_VOCABULARY,
    check_vocabularies,
    checksums,
    run_vocabularies,
)
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies

SOURCE, TARGET = (
    SubwordEncoder(train_subwords(words, vocab_size=290)) for words in (WORDS, WORDS[:3])
)
JOINT, TWO = Vocabularies(SOURCE, SOURCE), Vocabularies(SOURCE, TARGET)


def record(vocabularies, **changes):
    source, target = checksums(vocabularies)
    values = {
        "problem": "p",
        "model": "m",
        "hparams_set": "s",
        "overrides": "",
        "hparams": {},
        "vocab_size": 296,
        "vocabulary": source,
        "target_vocab_size": None if vocabularies.shared else 296,
        "target_vocabulary": target,
        "random_seed": 0,
    }
    return RunRecord(**{**values, **changes})


@pytest.mark.parametrize("vocabularies", [JOINT, TWO])
def test_those_of_the_training_pass(vocabularies):
    check_vocabularies(vocabularies, record(vocabularies), "x")


def test_others_are_refused():
    with pytest.raises(UserError, match=r"x has a vocabulary for each .* trained with one"):
        check_vocabularies(TWO, record(JOINT), "x")
    with pytest.raises(UserError, match=r"x has one vocabulary for both .* trained with a "):
        check_vocabularies(JOINT, record(TWO), "x")
    with pytest.raises(UserError, match=r"vocabulary of x is not the one .* \(its checksum"):
        check_vocabularies(TWO.reversed, record(TWO), "x")
    with pytest.raises(UserError, match="the model only 8: it was trained on different data"):
        check_vocabularies(TWO, record(TWO, target_vocab_size=8), "x")


class TestImported:
    PIECES = ("<pad>", "<EOS>", *"thedogusa_\\;0123456789")

    @pytest.fixture
    def run(self, tmp_path):
        """An imported run with its vocabulary, and its average."""
        text = "".join(f"'{piece}'\n" for piece in dict.fromkeys(self.PIECES))
        for name in ("", "averaged"):
            (tmp_path / "run" / name).mkdir(parents=True)
            self.record(text).save(tmp_path / "run" / name)
        (tmp_path / "run" / T2T_VOCABULARY).write_text(text)
        return tmp_path / "run"

    def record(self, text="", **changes):
        checksum = hashlib.sha256(text.encode()).hexdigest() if text else ""
        size = len(dict.fromkeys(self.PIECES))
        return record(
            JOINT, **{"problem": "", "vocabulary": checksum, "vocab_size": size, **changes}
        )

    def load(self, folder, record):
        trained = TrainedModel(None, record, f"{folder}/model.ckpt-1", 1)
        return run_vocabularies(trained, data_dir=None)

    def test_in_the_run_and_above_what_the_library_puts_there(self, run):
        for folder in (run, run / "averaged", run / "best"):
            found = self.load(folder, RunRecord.load(run))
            assert found.shared and found.source.vocab_size == 24

    def test_not_above_any_other_folder(self, run):
        (run / "mine").mkdir()
        with pytest.raises(UserError, match="does not say which problem it is for"):
            self.load(run / "mine", RunRecord.load(run))

    def test_a_trained_run_has_the_vocabulary_of_its_problem(self, run):
        for folder in (run, run / "averaged"):
            with pytest.raises(UserError, match="--data_dir is needed"):
                self.load(folder, self.record(problem="translate_toy"))

    def test_damage(self, run):
        path = run / T2T_VOCABULARY
        path.write_bytes(path.read_bytes().replace(b"'t'", b"'T'"))
        with pytest.raises(UserError, match=rf"{path} is damaged: it is not as it was imported"):
            self.load(run, RunRecord.load(run))
        path.write_text("'<pad>'\n")
        with pytest.raises(UserError, match=T2T_VOCABULARY):
            self.load(run, self.record())

    def test_a_second_one_too_many(self, run):
        (run / T2T_TARGET_VOCABULARY).write_bytes((run / T2T_VOCABULARY).read_bytes())
        with pytest.raises(UserError, match=rf"{run} must hold {T2T_VOCABULARY} and, only if"):
            self.load(run, self.record())
