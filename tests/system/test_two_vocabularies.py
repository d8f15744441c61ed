"""A vocabulary of words for each language, from text files to a SavedModel."""

import random

import numpy as np
import pytest
import tensorflow as tf
from toy_run import call

from t2t_phrase.bin import datagen, decoder, exporter, trainer
from t2t_phrase.config import UserError
from t2t_phrase.runs.load_model import load_model

PAIRS = {
    "house": "haus",
    "cat": "katze",
    "dog": "hund",
    "old": "alt",
    "red": "rot",
    "runs": "läuft",
}
SIZES = "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,batch_size=256,max_length=16"
RECIPE = (
    "learning_rate_schedule=constant,learning_rate_constant=0.01,layer_prepostprocess_dropout=0"
)
DECODE = "beam_size=2,extra_length=4"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the folder and the flags of a trained model."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "raw").mkdir()
    draw = random.Random(0)
    for split, count in (("train", 200), ("dev", 10)):
        rows = [draw.choices(list(PAIRS), k=draw.randint(1, 5)) for _ in range(count)]
        for ending, words in (("src", rows), ("tgt", [[PAIRS[w] for w in row] for row in rows])):
            text = "".join(" ".join(row) + "\n" for row in words)
            (folder / "raw" / f"{split}.{ending}").write_text(text)
    data = [f"--data_dir={folder / 'data'}", "--problem=translate_text"]
    vocabularies = ["--vocab_type=words", "--noshared_vocab", "--vocab_size=8"]
    call(datagen, *data, f"--tmp_dir={folder / 'raw'}", *vocabularies, "--target_vocab_size=9")
    flags = [*data, f"--output_dir={folder / 'run'}"]
    train = [*flags, "--hparams_set=transformer_tiny", "--train_steps=60"]
    with pytest.raises(UserError, match="add --hparams=share_source_embedding=false"):
        call(trainer, *train, f"--hparams={SIZES}")
    # The folder was not claimed for a model that cannot exist.
    call(
        trainer,
        *train,
        f"--hparams={SIZES},{RECIPE},share_source_embedding=false",
        "--local_eval_frequency=60",
        f"--decode_hparams={DECODE}",
    )
    return folder, flags


@pytest.mark.slow
def test_embeddings_are_as_large_as_their_vocabularies(run):
    folder, _ = run
    trained = load_model(str(folder / "run"))
    # Filled up to a multiple of 8.
    assert (trained.record.vocab_size, trained.record.target_vocab_size) == (8, 16)
    assert trained.model.source_embedding.kernel.shape == (8, 16)
    assert trained.model.target_embedding.kernel.shape == (16, 16)


@pytest.mark.slow
def test_the_saved_model_translates_and_scores_like_the_commands(run):
    folder, flags = run
    # Six words, of which one is not in the source's vocabulary of five.
    lines = ["old house", "", "cat dog red", "zebra house", " ".join(PAIRS)]
    (folder / "in").write_text("".join(f"{line}\n" for line in lines))
    options = f"--decode_hparams={DECODE}"
    out = folder / "out"
    call(decoder, *flags, options, f"--decode_from_file={folder / 'in'}", f"--decode_to_file={out}")
    translations = out.read_text().split("\n")[:-1]
    known = {*PAIRS.values(), "<unk>"}
    assert len(translations) == len(lines) and {w for t in translations for w in t.split()} <= known
    assert translations[1] == "" != translations[0]
    call(exporter, *flags, options, f"--export_dir={folder / 'export'}")
    version = folder / "export" / "1"
    assert sorted(path.name for path in (version / "assets").iterdir()) == [
        "source.txt",
        "target.txt",
    ]
    served = tf.saved_model.load(str(version)).signatures
    found = served["serving_default"](text=tf.constant(lines))
    assert [text.decode() for text in found["translation"].numpy()] == translations

    pairs = list(zip(lines, ["altes haus", "", "katze hund rot", "<unk> haus", "x"], strict=True))
    (folder / "pairs").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    call(decoder, *flags, f"--score_file={folder / 'pairs'}", f"--decode_to_file={out}")
    scores = -np.array([float(line) for line in out.read_text().split()])
    sources, targets = zip(*pairs, strict=True)
    served_scores = served["score"](source=tf.constant(sources), target=tf.constant(targets))
    np.testing.assert_allclose(served_scores["log_probability"], scores, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_other_vocabularies_are_refused(run):
    folder, flags = run
    other = folder / "other"
    call(datagen, "--problem=translate_text", f"--tmp_dir={folder / 'raw'}", f"--data_dir={other}")
    (folder / "in").write_text("old house\n")
    with pytest.raises(UserError, match="one vocabulary for both languages, but the model was"):
        call(decoder, *flags, f"--data_dir={other}", f"--decode_from_file={folder / 'in'}")
