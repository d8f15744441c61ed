"""The parts of a comparison that require no training."""

import dataclasses
import itertools
import json
import os
import pathlib
import statistics

import pytest

import t2t_phrase_grammar as grammar
from t2t_phrase import registry
from t2t_phrase.comparison import details, phenomena, report, runs
from t2t_phrase.comparison import table as tables
from t2t_phrase.comparison.scoring import Scoring
from t2t_phrase.comparison.sentences import sentences_of
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import Problem
from t2t_phrase.evaluation.phenomena import Judgement
from t2t_phrase.runs.commands import add_command

RUNS = [
    tables.Run("base", 1, 2_600_000, {"BLEU": 30.0, "TER": 60.0}),
    tables.Run("base", 2, 2_600_000, {"BLEU": 32.0, "TER": 58.0}),
    tables.Run("new", 1, 2_804_000, {"BLEU": 33.0, "TER": 55.0}),
    tables.Run("new", 2, 2_804_000, {"BLEU": 34.0, "TER": 56.0}),
    tables.Run("new", 3, 2_804_000, {"BLEU": 38.0, "TER": 51.0}),
]


def p_value(metric, name, seeds):
    """Return a p-value that tells for what it was asked."""
    assert name == "new"
    return {"BLEU": 0.01, "TER": 0.02}[metric] * len(seeds)


def test_rows_average_over_seeds_and_differ_on_shared_ones():
    base, new = tables.rows(RUNS, "base", p_value)
    bleu = base.scores["BLEU"]
    assert (bleu.mean, bleu.difference, bleu.p_value) == (31.0, None, None)
    assert bleu.spread == pytest.approx(statistics.stdev([30, 32]))
    bleu, ter = new.scores["BLEU"], new.scores["TER"]
    assert (bleu.mean, ter.mean) == (35.0, 54.0)
    assert (bleu.difference, ter.difference) == (pytest.approx(2.5), pytest.approx(-3.5))
    assert (bleu.p_value, ter.p_value) == (0.02, 0.04)


def test_without_the_baseline_nothing_is_compared():
    (only,) = tables.rows(RUNS[2:3], "base", p_value)
    bleu = only.scores["BLEU"]
    assert bleu.difference is None and bleu.p_value is None and bleu.spread is None


def test_markdown_has_a_spread_only_with_several_seeds():
    several = tables.markdown(tables.rows(RUNS, "base", p_value)).split("\n")
    assert several[0] == ("| set | parameters | BLEU | by seed | difference | p | TER | p (TER) |")
    assert several[3] == (
        "| `new` | 2.80M | 35.00 ± 2.65 | 33.00, 34.00, 38.00 | +2.50 | 0.020 "
        "| 54.00 ± 2.65 | 0.040 |"
    )
    table = tables.rows([RUNS[0], RUNS[2]], "base", p_value)
    single = tables.markdown(table, {"idioms": {"base": "50%"}}).split("\n")
    assert single[0] == "| set | parameters | BLEU | difference | p | TER | p (TER) | idioms |"
    assert single[2:] == [
        "| `base` | 2.60M | 30.00 |  |  | 60.00 |  | 50% |",
        "| `new` | 2.80M | 33.00 | +3.00 | 0.010 | 55.00 | 0.020 |  |",
    ]
    assert len({line.count("|") for line in single}) == 1


def test_rows_are_json():
    content = json.loads(json.dumps(tables.as_json(tables.rows(RUNS, "base", p_value))))
    base, new = (row["scores"]["BLEU"] for row in content)
    assert new["by_seed"] == {"1": 33.0, "2": 34.0, "3": 38.0} and new["p"] == 0.02
    assert base["difference"] is None and new["difference"] == pytest.approx(2.5)


def test_phenomena_are_compared_seed_by_seed():
    def judged(*right):
        return [Judgement("idiom", good, good) for good in right]

    made = phenomena.rows(
        {
            ("base", 1): judged(False, False, False, True),
            ("new", 1): judged(True, True, False, False),
            ("new", 2): judged(True, True, True, True),
        },
        "base",
    )
    assert made["base"]["idiom"]["accuracy"] == 25.0 and made["base"]["idiom"]["total"] == 4
    new = made["new"]["idiom"]
    assert new["accuracy"] == 75.0 and new["right_by_seed"] == {1: 2, 2: 4}
    assert new["gained_by_seed"] == {1: 2} and new["lost_by_seed"] == {1: 1}
    assert phenomena.columns(made) == {
        "idioms": {"base": "25.00%", "new": "75.00%"},
        "p (idioms)": {"base": "", "new": "1.000"},
    }


@pytest.fixture
def grammar_problem(monkeypatch):
    """The grammar problem, with a test set that is not read from files."""
    from t2t_phrase.data.problem import get_problem

    def get(name):
        problem = get_problem(name)
        pairs = list(grammar.generate("test", 20, seed=problem.seed))
        columns = [pair.source for pair in pairs], [pair.target for pair in pairs]
        kept = columns[::-1] if problem.reversed else columns
        monkeypatch.setattr(problem, "raw_text", lambda data_dir, split: kept, raising=True)
        return problem

    return get


def test_the_grammar_is_tested_on_more_sentences_of_its_test_split(grammar_problem, tmp_path):
    problem = grammar_problem("translate_ende_grammar")
    found = sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=30)
    pairs = list(grammar.generate("test", 30, seed=problem.seed))
    assert found.source.read_text().splitlines() == [pair.source for pair in pairs]
    assert found.references == [[pair.target for pair in pairs]]
    assert found.facts == [pair.facts.renderings for pair in pairs]
    trees = found.source.with_suffix(".trees").read_text().splitlines()
    assert trees == [pair.tree for pair in pairs]
    before = found.source.stat().st_mtime_ns
    sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=30)
    assert found.source.stat().st_mtime_ns == before


def test_the_development_set_is_drawn_from_its_own_split(monkeypatch, tmp_path):
    from t2t_phrase.data.problem import get_problem

    problem = get_problem("translate_ende_grammar")
    pairs = list(grammar.generate("dev", 20, seed=problem.seed))
    kept = [pair.source for pair in pairs], [pair.target for pair in pairs]
    monkeypatch.setattr(problem, "raw_text", lambda data_dir, split: {"dev": kept}[split])
    found = sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=10, split="dev")
    assert found.source == tmp_path / "dev-10.en" and "of the dev split" in found.description
    assert found.source.read_text().splitlines() == kept[0][:10]
    assert found.references == [kept[1][:10]]


def test_the_other_direction_has_no_phenomena(grammar_problem, tmp_path):
    problem = grammar_problem("translate_ende_grammar_rev")
    found = sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=10)
    pairs = list(grammar.generate("test", 10, seed=problem.seed))
    assert found.source.read_text().splitlines() == [pair.target for pair in pairs]
    assert found.references == [[pair.source for pair in pairs]] and found.facts is None


def test_data_of_another_grammar_are_refused(grammar_problem, tmp_path, monkeypatch):
    problem = grammar_problem("translate_ende_grammar")
    other = list(grammar.generate("test", 5, seed=problem.seed + 1))
    kept = [pair.source for pair in other], [pair.target for pair in other]
    monkeypatch.setattr(problem, "raw_text", lambda data_dir, split: kept)
    with pytest.raises(UserError, match="regenerate the data with t2t-phrase-datagen"):
        sentences_of(problem, data_dir=tmp_path, work_dir=tmp_path, size=10)


COUNTS = {"right": 3, "total": 4}
CONTRASTS = json.dumps(
    {
        "kinds": {"agreement": COUNTS, "polarity": {"right": 1, "total": 1}},
        "distances": {"agreement": {"1": COUNTS, ">15": {"right": 0, "total": 1}}},
    }
)
SET, OVERRIDES = "transformer_tiny", "num_heads=2"


@pytest.fixture
def recipe(tmp_path, monkeypatch, record_run):
    """A recipe with its sentences, and the list of commands that ran."""
    registry.discover()
    source = tmp_path / "test.en"
    source.write_text("a\n")
    os.utime(source, (0, 0))
    made = runs.Recipe(
        problem="translate_ende_multi30k",
        data_dir=tmp_path,
        work_dir=tmp_path,
        train_steps=40,
        hparams=OVERRIDES,
        num_last_checkpoints=5,
        decode_hparams="beam_size=2",
        test_sentences=0,
        contrastive="grammar",
    )
    monkeypatch.setitem(
        made.__dict__, "test", runs.Sentences(source, [["a"]], None, "one sentence")
    )
    ran, ticks = [], itertools.count(1_000_000_000)

    def call(command, **options):
        module = command[2].rpartition(".")[2]
        flags = dict(flag.removeprefix("--").split("=", 1) for flag in command[3:])
        ran.append(module)
        if module == "trainer":
            folder = pathlib.Path(flags["output_dir"])
            written = [folder / "model.ckpt-40.index"]
            record_run(folder, flags)
        elif module == "avg":
            written = [pathlib.Path(flags["output_path"]) / "checkpoint"]
        elif module == "contrast":
            written = [pathlib.Path(flags["json_to_file"])]
        else:
            written = [pathlib.Path(flags["decode_to_file"])]
        for path in written:
            path.parent.mkdir(exist_ok=True)
            path.write_text(CONTRASTS if module == "contrast" else "ein Satz\n")
            tick = next(ticks)
            os.utime(path, (tick, tick))
        return 0

    monkeypatch.setattr(runs.subprocess, "call", call)
    return made, ran


def test_what_is_finished_is_not_done_again(recipe):
    recipe, ran = recipe
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran == ["trainer", "avg", "decoder", "contrast"]
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran == ["trainer", "avg", "decoder", "contrast"]
    # The translation was made by other flags, the average was not.
    changed = changed_recipe(recipe, decode_hparams="beam_size=3")
    assert runs.finish(changed, SET, 7, train=True)
    assert ran[4:] == ["decoder"]
    # A newer average requires a new translation and new contrastive scores.
    os.utime(recipe.place(SET, 7, "-averaged") / "checkpoint")
    assert runs.finish(changed, SET, 7, train=True)
    assert ran[5:] == ["decoder", "contrast"]


def test_changed_sentences_are_translated_again(recipe, tmp_path):
    recipe, ran = recipe
    pairs = tmp_path / "pairs.json"
    pairs.write_text("[]")
    os.utime(pairs, (0, 0))
    recipe = changed_recipe(recipe, contrastive=str(pairs))
    for _ in range(2):
        assert runs.finish(recipe, SET, 7, train=True)
        assert ran == ["trainer", "avg", "decoder", "contrast"]
    os.utime(recipe.test.source)
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran[4:] == ["decoder"]
    os.utime(pairs)
    assert runs.finish(recipe, SET, 7, train=True)
    assert ran[5:][-1:] == ["contrast"]


def changed_recipe(recipe, **changes):
    made = dataclasses.replace(recipe, **changes)
    made.__dict__["test"] = recipe.test
    return made


def test_a_run_of_another_recipe_is_left_to_the_trainer_to_refuse(recipe):
    recipe, _ = recipe
    runs.finish(recipe, SET, 7, train=True)
    assert recipe.has_trained(SET, 7)
    assert not recipe.has_trained(SET, 8)
    assert not changed_recipe(recipe, hparams="num_heads=4").has_trained(SET, 7)
    assert not changed_recipe(recipe, train_steps=80).has_trained(SET, 7)
    # The same values in another notation are the same recipe.
    assert changed_recipe(recipe, hparams="num_heads=2,norm=pre").has_trained(SET, 7)


def test_checkpoints_are_written_at_the_given_frequency(recipe):
    recipe, _ = recipe
    assert "--local_eval_frequency=2" in recipe.commands(SET, 7)["trainer"]
    often = changed_recipe(recipe, local_eval_frequency=15)
    assert "--local_eval_frequency=15" in often.commands(SET, 7)["trainer"]


def test_averages_over_other_distances_are_not_compared(recipe):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    add_command(recipe.place(SET, 7), recipe.commands(SET, 7)["trainer"], log=print)
    assert runs.finish(recipe, SET, 7, train=False)
    often = changed_recipe(recipe, local_eval_frequency=15)
    with pytest.raises(UserError, match=r"every 2 updates, not every 15; give --local_eval_freq"):
        runs.finish(often, SET, 7, train=False)
    assert ran == ["trainer", "avg", "decoder", "contrast"]


def test_a_run_that_was_trained_for_longer_is_refused(recipe):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    for step in (40, 60):
        for ending in ("index", "data-00000-of-00001"):
            (recipe.place(SET, 7) / f"model.ckpt-{step}.{ending}").touch()
    ran.clear()
    with pytest.raises(UserError, match=r"-7 is at update 60, .* give --train_steps=60 or another"):
        runs.finish(recipe, SET, 7, train=True)
    (recipe.place(SET, 7) / "model.ckpt-40.index").unlink()
    with pytest.raises(UserError, match="is at update 60"):
        runs.finish(recipe, SET, 7, train=True)
    assert ran == []


def test_a_run_on_data_that_have_changed_is_refused(recipe, monkeypatch):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    record = runs.RunRecord.load(recipe.place(SET, 7))
    dataclasses.replace(record, data="a").save(recipe.place(SET, 7))
    for digest in ("", "a"):  # unknown, the same
        monkeypatch.setattr(Problem, "data_digest", lambda *a, digest=digest: digest)
        assert runs.finish(recipe, SET, 7, train=False)
    monkeypatch.setattr(Problem, "data_digest", lambda *a: "b")
    with pytest.raises(UserError, match=r"-7 holds a run on different data.*another --output_dir"):
        runs.finish(recipe, SET, 7, train=False)
    assert ran == ["trainer", "avg", "decoder", "contrast"]


def test_flags_are_recorded_only_for_their_own_output(recipe, monkeypatch):
    recipe, ran = recipe
    runs.finish(recipe, SET, 7, train=True)
    changed = changed_recipe(recipe, decode_hparams="beam_size=3")
    write = runs.subprocess.call

    def call(*arguments, **options):
        write(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(runs.subprocess, "call", call)
    with pytest.raises(KeyboardInterrupt):
        runs.finish(changed, SET, 7, train=True)
    monkeypatch.setattr(runs.subprocess, "call", write)
    runs.finish(recipe, SET, 7, train=True)
    assert ran[4:] == ["decoder", "decoder"]


def test_without_training_what_is_trained_is_still_translated(recipe, record_run):
    recipe, ran = recipe
    assert not runs.finish(recipe, SET, 7, train=False)
    assert ran == []
    flags = dict(f.removeprefix("--").split("=", 1) for f in recipe.commands(SET, 7)["trainer"])
    record_run(recipe.place(SET, 7), flags)
    (recipe.place(SET, 7) / "model.ckpt-40.index").touch()
    assert runs.finish(recipe, SET, 7, train=False)
    assert ran == ["avg", "decoder", "contrast"]


def test_a_command_that_fails_is_told_with_its_last_lines(recipe, monkeypatch):
    recipe, _ = recipe

    def call(command, stdout, **options):
        stdout.write("error: no such thing\n")
        return 2

    monkeypatch.setattr(runs.subprocess, "call", call)
    with pytest.raises(UserError, match=r"(?s)trainer failed, see .*7.log:.*no such thing"):
        runs.finish(recipe, SET, 7, train=True)
    monkeypatch.setattr(runs.subprocess, "call", lambda *a, **o: 143)
    with pytest.raises(SystemExit, match="interrupted by a signal"):
        runs.finish(recipe, SET, 7, train=True)


def test_the_report_holds_recipe_commands_and_signature(recipe, capsys, monkeypatch):
    recipe, _ = recipe
    monkeypatch.setattr(report, "count_parameters", lambda folder: 1_000_000)
    done = [(SET, 7), ("transformer_small", 7)]
    for run in done:
        runs.finish(recipe, *run, train=True)
    scoring = Scoring(("bleu", "chrf"), tokenize="none")
    report.report(recipe, done, [SET, "transformer_small"], [2, 5], 3, scoring)
    text = (recipe.work_dir / "table.md").read_text()
    assert text in capsys.readouterr().out
    for part in (
        "BLEU `nrefs:1|",
        "|tok:none|",
        "chrF2 `nrefs:1|",
        OVERRIDES,
        "40 updates",
        "seeds 7",
        "--output_dir=",
        "SET-SEED",
    ):
        assert part in text
    content = json.loads((recipe.work_dir / "table.json").read_text())
    assert [row["set"] for row in content["rows"]] == [SET, "transformer_small"]
    assert "| BLEU by source length | under 2 words (1) |" in text
    assert content["by_length"][SET].keys() == {"under 2 words"}
    assert "| n-gram precision | 1 | 2 | 3 |" in text and "n-gram precision: of `" in text
    assert [row["order"] for row in content["ngrams"]["transformer_small"]] == [1, 2, 3]
    assert "| contrastive accuracy | agreement (4) | polarity (1) |" in text
    assert f"| `{SET}` | 75.00% | 100.00% |" in text
    assert "| agreement by distance | 1 (4) | >15 (1) |" in text
    assert content["contrastive"][SET]["agreement >15"] == {"right": 0, "total": 1}
    assert content["recipe"]["hparams"] == OVERRIDES and content["seeds"] == [7]


def test_ngrams_are_compared_seed_by_seed():
    references = [["a b c", "d e f", "g h i"]]
    worse, better = ["a b x", "d e f", "g h i"], references[0]
    texts = {
        ("base", 1): worse,
        ("base", 2): better,
        ("new", 1): better,
        ("new", 2): better,
        ("new", 3): worse,
        ("other", 3): worse,
    }
    table, found = details.ngrams(texts, references, "base", 4, Scoring())
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n")]
    assert lines[0] == ["n-gram precision", "1", "2", "3", "4"]
    assert lines[2] == ["`base`", "94.44", "91.67", "83.33", "-"]
    assert lines[3] == ["`new`", "+5.56", "+8.33", "+16.67", "-"]
    # The third seed has no baseline.
    p_values = found["new"][0]["p_by_seed"]
    assert list(p_values) == [1, 2] and p_values[2] == 1.0
    assert lines[4][:2] == ["p", f"{p_values[1]:.3f}, 1.000"] and lines[4][-1] == ""
    assert lines[5] == ["`other`", "-", "-", "-", "-"] and len(lines) == 6
    assert found["new"][2]["precision"] == pytest.approx(100 * (3 + 3 + 2) / 9)
    assert found["new"][2]["difference"] == pytest.approx(100 / 6)
    assert found["base"][0]["difference"] is None
