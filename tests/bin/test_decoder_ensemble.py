"""Several runs that translate and score together."""

import pytest
from toy_run import call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.runs.load_model import load_model

OPTIONS = "beam_size=2,extra_length=8"
LINES = ["the house is old", "", "dogs run", "a cat sleeps in it while dogs run"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.mark.slow
def test_several_runs_are_an_ensemble(toy, tmp_path, capsys):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(f"{line}\n" for line in LINES))
    best = load_model(toy.output_dir / "best").model
    folders = f"--output_dir={toy.output_dir},{toy.output_dir}/best"
    arguments = [folders, *toy.flags[1:], f"--decode_hparams={OPTIONS}"]
    files = [f"--decode_from_file={source}", f"--decode_to_file={target}"]
    for flags, weights in (([], None), (["--ensemble_weights=1,9"], [1, 9])):
        call(decoder, *arguments, *flags, *files)
        model = Ensemble([toy.model, best], weights=weights)
        translator = Translator(model, toy.vocabularies, DecodeHParams().override(OPTIONS))
        expected = [found[0].text for found in translator.translate(LINES)]
        assert target.read_text(encoding="utf-8").split("\n")[:-1] == expected
    error = capsys.readouterr().err
    assert "run/model.ckpt-30 (step 30)" in error and "best/model.ckpt-20 (step 20)" in error
    # The best checkpoint of each run, and the name of a file that is not given one.
    same = f"--output_dir={toy.output_dir},{toy.output_dir}"
    call(decoder, same, *arguments[1:], files[0], "--checkpoint_path=best")
    name = "in.ensemble.2_models.translate_toy.beam2.alpha0.6.decodes"
    alone = Translator(best, toy.vocabularies, DecodeHParams().override(OPTIONS))
    expected = [found[0].text for found in alone.translate(LINES)]
    assert (tmp_path / name).read_text(encoding="utf-8").split("\n")[:-1] == expected


@pytest.mark.slow
def test_an_ensemble_scores(toy, tmp_path, capsys):
    pairs = tmp_path / "pairs"
    pairs.write_text("the house\tdogs run\n")
    folders = f"--output_dir={toy.output_dir},{toy.output_dir}/best"
    call(decoder, folders, *toy.flags[1:], f"--score_file={pairs}")
    model = Ensemble([toy.model, load_model(toy.output_dir / "best").model])
    scorer = Scorer(model, toy.vocabularies, batch_size=64)
    expected = scorer.score([("the house", "dogs run")])[0]
    assert float(capsys.readouterr().out) == pytest.approx(-expected, abs=1e-4)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--output_dir={run},,{run}", "a name in the list is empty; remove the extra comma"),
        ("--output_dir={run} --ensemble_weights=1", "only used with several models"),
        ("--output_dir={run},{run} --ensemble_weights=1,x", "=1,x: expected a number for each"),
        ("--output_dir={run},{run} --ensemble_weights=1,-1", "must be positive numbers, got -1"),
        ("--output_dir={run},{run} --model=luong", "--model=luong: .* is a run of transformer;"),
        ("--output_dir={run},{run}/none", "run/none"),
    ],
)
def test_mistakes_in_naming_an_ensemble(toy, flags, message, tmp_path):
    given = flags.format(run=toy.output_dir).split()
    (tmp_path / "pairs").write_text("a\tb\n")
    with pytest.raises(UserError, match=message):
        call(decoder, *toy.flags[1:], *given, f"--score_file={tmp_path / 'pairs'}")
