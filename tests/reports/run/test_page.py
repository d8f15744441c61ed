"""The page of a run, from the files in its folder."""

import dataclasses
import json
from types import SimpleNamespace

import pytest
from browser import PHONE
from hostile_text import HOSTILE
from html_page import parse
from recorded_runs import GRAMMAR, save_run

from t2t_phrase.config import UserError
from t2t_phrase.reports.page import write_page
from t2t_phrase.reports.run.examples import Example
from t2t_phrase.reports.run.facts import read_facts
from t2t_phrase.reports.run.page import duration, run_page
from t2t_phrase.reports.run.write import report_of_training, write_run_report
from t2t_phrase.reports.text import visible
from t2t_phrase.runs.commands import add_command
from t2t_phrase.runs.history import History
from t2t_phrase.runs.translations import BestTranslations
from t2t_phrase.training.summaries import Summaries

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run that is being trained: reports up to update 300, evaluations at 100 and 200."""
    made = tmp_path_factory.mktemp("reported") / "my <run>"
    save_run(made, "transformer_tiny")
    summaries = Summaries(made, writes=True, log=print)
    for step in range(10, 310, 10):
        values = {"loss": 9.0 / step, "nll": 8.0 / step, "learning_rate": 1e-3 * step}
        speed = {"steps_per_second": 2.0, "tokens_per_second": 500.0 + step}
        summaries.write("train", step, {**values, **speed})
    summaries.close()
    scores = {100: {"loss": 2.0, "nll": 1.5, "bleu": 21.5}, 200: {"loss": 1.0, "bleu": 20.25}}
    History(scores).save(made)
    BestTranslations(100, 21.5, SIGNATURE, tuple(HOSTILE.values())).save(made)
    add_command(made, [f"--problem={GRAMMAR}", "--hparams=a=<b>"], log=print)
    lines = ["2026-11-24 20:18:00  began", *(f"2026-11-24 20:19:0{n}  line {n}" for n in range(9))]
    (made / "train.log").write_text("".join(f"{line}\n" for line in lines))
    return made


@pytest.fixture(scope="module")
def facts(folder):
    return read_facts(folder, folder / "data", log=print)


EXAMPLES = [
    Example(group, line, text, text[::-1], (text, "second"), 50.0)
    for line, text in enumerate(HOSTILE.values(), start=1)
    for group in [["best", "median", "worst"][min(2, line // 5)]]
]


@pytest.fixture(scope="module")
def html(facts):
    return run_page(facts, EXAMPLES)


def test_results_are_those_of_the_run(html):
    page = parse(html)
    rows = {row[0]: row[1] for row in page.tables[0]}
    assert page.title == "Run my <run>"
    assert rows["Updates"] == "300"
    assert rows["Best checkpoint"] == "BLEU 21.50 of the development set at update 100"
    assert rows["Signature"] == SIGNATURE
    assert rows["Time of the updates"] == "2 min 30 s, without evaluations"
    assert rows["Throughput"] == "655 source and target tokens per second"
    assert rows["Started"] == "2026-11-24 20:18:00"
    assert rows["Last line of the log"] == "2026-11-24 20:19:08  line 8"
    assert "Parameters" not in rows
    assert page.tables[1] == [
        ["updates", "loss", "perplexity", "BLEU"],
        ["100 *", "2.0000", "4.482", "21.50"],
        ["200", "1.0000", "", "20.25"],
    ]
    settings = {row[0]: row[1] for row in page.tables[2]}
    assert settings["Problem"] == f"{GRAMMAR}, en to de"
    assert settings["Hparams set"] == "transformer_tiny"
    hparams = dict(page.tables[3])
    assert hparams["hidden_size"] == "128" and len(hparams) > 30


def test_curves_say_where_they_end(html):
    page = parse(html)
    assert len(page.captions) == 5
    assert page.captions[0] == (
        "Loss: training from 0.9 at update 10 to 0.03 at update 300; development from 2 at "
        "update 100 to 1 at update 200."
    )
    assert page.captions[2].endswith("development from 21.5 at update 100 to 20.25 at update 200.")


def test_translations_are_shown_as_they_are(html):
    texts = parse(html).texts
    shown = [text for example in EXAMPLES for text in (
        example.source, example.translation, *example.references)]  # fmt: skip
    assert texts == [visible(text) for text in shown]


def test_commands(html, facts):
    pre = parse(html).blocks
    assert pre[-1].split("\n\n")[0].startswith("t2t-phrase-datagen \\\n    --problem=")
    assert f"t2t-phrase-trainer \\\n    --problem={GRAMMAR} \\\n    '--hparams=a=<b>'" in pre[-1]


def test_inputs_that_are_no_files_have_no_checksum(facts):
    inputs = {"grammar": "0f" * 32, "seed": "7"}
    manifest = SimpleNamespace(splits={}, options={}, inputs=inputs)
    page = run_page(dataclasses.replace(facts, manifest=manifest), [], without="no reason")
    assert f"SHA-256 <code>{inputs['grammar']}</code>" in page
    assert page.count("SHA-256") == 1 and "<code>7</code>" in page


def test_a_generated_corpus_needs_no_raw_files(html):
    assert "--tmp_dir" not in html and "The first command generates the corpus" in html


def test_commands_of_runs_that_record_none(folder, tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("hparams.json", "evaluations.json"):
        (tmp_path / "run" / name).write_bytes((folder / name).read_bytes())
    found = read_facts(tmp_path / "run", "data", log=print)
    assert found.translations is None and found.best.signature == ""
    page = run_page(found, [], without="nothing was translated")
    assert "None: nothing was translated." in page and "--local_eval_frequency=100" in page
    assert "does not record its command" in page and "Curves" in page


def test_a_run_without_any_update(tmp_path):
    save_run(tmp_path / "run", "transformer_tiny")
    page = run_page(read_facts(tmp_path / "run", "data", log=print), [], without="no reason")
    assert "so there are no curves" in page and "<svg" not in page


@pytest.mark.parametrize("name", ["best_translations.json", "commands.json", "evaluations.json"])
def test_damaged_files_are_left_out_with_a_line(folder, tmp_path, name):
    save_run(tmp_path / "run", "transformer_tiny")
    (tmp_path / "run" / name).write_text('{"step": 1')
    lines = []
    write_run_report(
        tmp_path / "run", "data", tmp_path / "p.html", translates=False, log=lines.append
    )
    assert any(line.startswith("left out: ") and name in line for line in lines)
    assert lines[-1].startswith(f"written: {tmp_path}/p.html (")


def test_other_translations_than_the_best_are_not_shown(folder, tmp_path):
    save_run(tmp_path / "run", "transformer_tiny")
    History({100: {"bleu": 2.0}, 200: {"bleu": 1.0}}).save(tmp_path / "run")
    BestTranslations(200, 1.0, SIGNATURE, ("a",)).save(tmp_path / "run")
    assert read_facts(tmp_path / "run", "data", log=print).translations is None


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(UserError, match="is not the --output_dir of a training run"):
        write_run_report(tmp_path, "data", tmp_path / "page.html")
    save_run(tmp_path / "imported", "transformer_tiny", problem="")
    with pytest.raises(UserError, match=r"imported was imported without a problem, .* --problem"):
        write_run_report(tmp_path / "imported", "data", tmp_path / "page.html")
    lines = []
    report_of_training(str(tmp_path), "data", "page.html", log=lines.append)
    assert lines[0].startswith("WARNING: the page page.html was not written: ")


def test_durations():
    assert [duration(s) for s in (6.6, 65, 3600 * 30 + 125)] == ["7 s", "1 min 05 s", "30 h 02 min"]


def test_the_page_in_a_browser(html, browser, tmp_path):
    path = tmp_path / "run.html"
    write_page(path, html)
    for size in (None, PHONE):
        browser.open(path, *[size] if size else [])
        assert browser.overflow() == 0
        assert browser.run("return window.hacked") is None
        assert browser.is_quiet()
    # Everything that opens or scrolls has the keyboard's focus in turn.
    reached = set()
    for _ in range(40):
        browser.press("\ue004")
        reached.add(browser.run("return document.activeElement.tagName"))
    assert {"A", "BUTTON", "SUMMARY", "PRE"} <= reached
    summary = "document.querySelector('summary')"
    browser.run(f"{summary}.focus()")
    browser.press("\ue007")
    assert browser.run(f"return {summary}.parentElement.open")


def test_recorded_commands_can_be_read(folder, tmp_path):
    lines = []
    add_command(folder.parent / "other", ["x"], log=lines.append)
    assert lines[0].startswith("WARNING: the command could not be recorded: cannot write ")
    (tmp_path / "commands.json").write_text("[1]")
    add_command(tmp_path, ["--a"], log=lines.append)
    add_command(tmp_path, ["--b"], log=lines.append)
    assert "is damaged" in lines[1] and len(lines) == 2
    stored = json.loads((tmp_path / "commands.json").read_text())
    assert [entry["arguments"] for entry in stored] == [["--a"], ["--b"]]
