"""The trainer's command on text of one's own that has been parsed."""

import pytest
from toy_run import call

import t2t_phrase_grammar as grammar
from t2t_phrase.bin import trainer
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints

SMALL = (
    "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,batch_size=512,"
    "max_length=128,length_bucket_step=2"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    for split, size in (("train", 60), ("dev", 3)):
        pairs = list(grammar.generate(split, size))
        for name in ("source", "target", "tree"):
            suffix = {"source": "src", "target": "tgt", "tree": "src.trees"}[name]
            lines = [getattr(pair, name) for pair in pairs]
            (folder / f"{split}.{suffix}").write_text("".join(f"{line}\n" for line in lines))
    return folder


def train(tmp_path, problem="translate_text", **flags):
    flags = {
        "problem": problem,
        "hparams_set": "phrase_representation_parse_demo",
        "hparams": SMALL,
        "data_dir": tmp_path / "data",
        "output_dir": tmp_path / "run",
        "decode_hparams": "beam_size=1,max_length=3",
        **flags,
    }
    call(trainer, *(f"--{name}={value}" for name, value in flags.items()))


@pytest.mark.slow
def test_training_reads_phrases_and_says_what_it_lacks(corpus, tmp_path, capsys):
    train(tmp_path, generate_data=True, tmp_dir=corpus, train_steps=2, local_eval_frequency=2)
    said = capsys.readouterr().out
    assert "subwords" in said and " phrases, " in said and " tags\n" in said
    assert "step 2: dev loss" in said and "BLEU" in said
    assert checkpoints.latest(tmp_path / "run").endswith("model.ckpt-2")
    train(tmp_path, dry_run=True, train_steps=2)
    assert "one update of" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"'phrases' describes the src side of translate_text"):
        train(tmp_path, problem="translate_text_rev", output_dir=tmp_path / "other")

    (tmp_path / "plain").mkdir()
    for path in corpus.iterdir():
        if path.suffix != ".trees":
            (tmp_path / "plain" / path.name).write_bytes(path.read_bytes())
    match = r"have no 'phrases'.*train\.src\.trees.*t2t-phrase-parse.*t2t-phrase-datagen --problem"
    with pytest.raises(UserError, match=match):
        train(
            tmp_path,
            generate_data=True,
            tmp_dir=tmp_path / "plain",
            data_dir=tmp_path / "plain_data",
            output_dir=tmp_path / "other",
        )
    assert not (tmp_path / "other").exists()
