import json
import subprocess
import sys

import pytest
from absl import app
from toy_run import call

from t2t_phrase.bin import eval as eval_command
from t2t_phrase.config import UserError
from t2t_phrase.evaluation import scores
from t2t_phrase.evaluation.ngram_plot import ngram_plot
from t2t_phrase.evaluation.ngram_precision import ngram_precisions
from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.figure_files import picture_of

REFERENCE = [
    "Das Haus ist alt .",
    "Die Katze schläft heute nicht .",
    "Hunde laufen sehr weit weg .",
]
TRANSLATION = ["Das haus ist alt .", "Die Katze schläft heute .", "Hunde laufen weit weg ."]


@pytest.fixture
def files(tmp_path):
    for name, lines in {"out": TRANSLATION, "ref": REFERENCE, "ref2": TRANSLATION}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def score(folder, *arguments):
    call(eval_command, f"--translation={folder}/out", f"--reference={folder}/ref", *arguments)


def test_every_metric_is_printed_with_value_and_signature(files, capsys):
    score(files, "--metrics=bleu,chrf,ter", "--tokenize=intl", "--lowercase")
    printed = capsys.readouterr().out.split("\n")
    bleu, chrf, ter = (
        corpus_score(metric, TRANSLATION, REFERENCE, tokenize="intl", lowercase=True)
        for metric in ("bleu", "chrf", "ter")
    )
    assert printed == [str(bleu), f"    {bleu.parts}", str(chrf), str(ter), ""]
    assert printed[0].startswith("BLEU = ") and "case:lc|eff:no|tok:intl" in printed[0]


def test_several_references(files, capsys):
    score(files, f"--reference={files}/ref2")
    assert capsys.readouterr().out.startswith("BLEU = 100.00  nrefs:2|case:mixed|eff:no|tok:13a")


def test_comparison_with_a_baseline(files, capsys):
    (files / "other").write_text("x y z .\n" * 3)
    score(files, f"--baseline={files}/other", "--metrics=bleu,ter")
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) == 7 and lines[3].startswith("Compared with ")
    assert lines[4].startswith("BLEU: ") and ", baseline " in lines[4] and ", p = 0." in lines[4]
    assert lines[5].startswith("TER: ") and "bs:1000" in lines[5]


def test_line_counts_that_differ_are_named(files):
    (files / "ref").write_text("nur eine\n")
    with pytest.raises(UserError, match=r"/out has 3 lines and .*/ref has 1; the lines"):
        score(files)


def test_flags_that_are_missing(files):
    with pytest.raises(app.UsageError, match=r"--translation and --reference .*are required"):
        call(eval_command, f"--translation={files}/out")
    with pytest.raises(app.UsageError, match="--by_length requires --source"):
        score(files, "--by_length=3")
    for flag in ("baseline", "source", "facts", "reference"):
        with pytest.raises(app.UsageError, match=f"--{flag}= names no file; leave the flag out"):
            score(files, f"--{flag}=")
    with pytest.raises(app.UsageError, match="--source: BLEU by length requires --reference"):
        call(eval_command, f"--translation={files}/out", f"--source={files}/ref", "--facts=x")
    for flag in ("metrics=ter", "tokenize=intl", "lowercase", "comet_model=x"):
        with pytest.raises(
            app.UsageError, match=f"--{flag.partition('=')[0]} requires --reference"
        ):
            call(eval_command, f"--translation={files}/out", "--facts=x", f"--{flag}")


def test_bleu_by_source_length(files, capsys):
    (files / "source").write_text("one\none two three\none two three four\n")
    score(files, f"--source={files}/source", "--by_length=2,4", f"--baseline={files}/ref")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("BLEU = ")
    ours = ["under 2 words, 1 sent", "2 to 3 words, 1 sent", "4 and more words, 1 sent"]
    assert [line[: len(start)] for line, start in zip(lines[2:5], ours, strict=True)] == ours
    assert lines[5] == f"By length, {files}/ref"
    assert all("BLEU = 100.00" in line for line in lines[6:9])
    with pytest.raises(UserError, match="--by_length=2,x: expected numbers of words"):
        score(files, f"--source={files}/source", "--by_length=2,x")
    with pytest.raises(UserError, match=r"/out has 3 lines and .*/short has 1"):
        (files / "short").write_text("one\n")
        score(files, f"--source={files}/short")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics="], "--metrics= names no metric; known: bleu, chrf,"),
        (["--metrics=bleu,"], "metric '' is unknown"),
        (["--metrics=chrf,blue"], "metric 'blue' is unknown; did you mean bleu"),
        (["--metrics=ter,ter"], "--metrics=ter,ter: ter is given twice"),
        (["--metrics=comet,comet"], "comet is given twice"),
        (["--comet_model=x"], "--comet_model requires comet in --metrics"),
        (["--metrics=bleu,chrf", "--tokenize=14a"], "tokenize '14a' is unknown; did you mean 13a"),
        (["--metrics=ter", "--tokenize=flores200", "--ngrams=2"], "needs sacreBLEU's model"),
        (["--tokenize=flores200"], "needs sacreBLEU's model .*, and scoring downloads nothing"),
        (["--source=/nosuch", "--by_length="], "--by_length=: expected numbers of words"),
        (["--source=/nosuch", "--by_length=3,2"], "lengths 3,2 must be ascending"),
        (["--source=/nosuch", f"--by_length={'9' * 5000}"], "9...: expected numbers of words"),
        (["--facts=/nosuch"], "cannot read /nosuch"),
        (["--source=/nosuch"], "cannot read /nosuch"),
    ],
)
def test_nothing_is_printed_before_a_mistake(files, arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(scores, "SACREBLEU_DIR", "/nosuch")
    with pytest.raises(UserError, match=message):
        score(files, *arguments)
    assert capsys.readouterr().out == ""


def test_files_that_are_given_twice_are_told(files, capsys):
    score(files, f"--baseline={files}/../{files.name}/out")
    captured = capsys.readouterr()
    assert captured.err.startswith("note: --translation and --baseline are both ")
    assert captured.out.splitlines()[-1].startswith("BLEU: ")
    assert ", difference +0.00, p = 1.0000  " in captured.out
    assert "/out has 3 lines" not in captured.err


def test_phenomena_of_the_grammar_corpus(files, capsys):
    words = {"kind": "particle verb", "citation": "weg|laufen", "words": ["laufen", "weg"]}
    facts = [{"renderings": []}, {"renderings": []}, {"renderings": [words]}]
    (files / "facts").write_text("".join(json.dumps(line) + "\n" for line in facts))
    (files / "other").write_text("Hunde laufen .\n" * 3)
    call(
        eval_command,
        f"--translation={files}/out",
        f"--facts={files}/facts",
        f"--baseline={files}/other",
    )
    assert capsys.readouterr().out.splitlines() == [
        "particle verb: 1 of 1 right = 100.00%, in the right order 100.00%",
        f"Compared with {files}/other, p by McNemar's exact test",
        "particle verb: 1 right here only, 0 right in the baseline only, p = 1.0000",
    ]


def test_the_command_itself(files):
    def run(*arguments):
        command = [sys.executable, "-m", "t2t_phrase.bin.eval", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    done = run(f"--translation={files}/out", f"--reference={files}/ref")
    assert (done.returncode, done.stderr) == (0, "")
    expected = corpus_score("bleu", TRANSLATION, REFERENCE)
    assert done.stdout == f"{expected}\n    {expected.parts}\n"
    done = run(f"--translation={files}/out", f"--reference={files}/absent")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: cannot read {files}/absent: No such file or directory\n"


def compare(folder, *arguments):
    (folder / "source").write_text("one\none two three\none two three four\n")
    systems = f"--systems=one={folder}/out,two={folder}/ref2"
    call(eval_command, systems, f"--reference={folder}/ref", *arguments)


def test_systems_as_a_table(files, capsys):
    compare(files, "--format=json", "--metrics=bleu,chrf")
    printed = json.loads(capsys.readouterr().out)
    expected = corpus_score("bleu", TRANSLATION, REFERENCE).value
    assert [row["system"] for row in printed["systems"]] == ["one", "two"]
    assert printed["systems"][0]["BLEU"] == f"{expected:.2f}"


def test_systems_with_several_seeds(files, capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(files))
    (files / "a+b").write_text((files / "out").read_text())
    systems = f"--systems=base={files}/out+{files}/ref,other={files}/ref2,plus=~/a+b"
    call(eval_command, systems, f"--reference={files}/ref", "--format=csv")
    header, base, other, plus = capsys.readouterr().out.splitlines()[:4]
    assert header == "system,seeds,BLEU,BLEU p"
    assert base.startswith("base,2,") and " ± " in base and base.endswith(",-")
    assert other.startswith("other,1,") and plus.startswith("plus,1,")


@pytest.mark.parametrize(
    ("seeds", "more", "error", "message"),
    [
        ("out+", [], UserError, r"expected one=FILE\+FILE, got"),
        ("out+{0}/out", [], UserError, "one=.*: a file is given twice"),
        ("out+{0}/ref", ["--report=x"], app.UsageError, "one has several files; a page compares"),
    ],
)
def test_mistakes_in_the_files_of_seeds(files, seeds, more, error, message):
    systems = f"--systems=one={files}/{seeds.format(files)},two={files}/ref2"
    with pytest.raises(error, match=message):
        call(eval_command, systems, f"--reference={files}/ref", *more)


def test_systems_as_a_page_and_files(files, capsys):
    (files / "out").write_text("x y z .\n" * 3)
    more = [f"--source={files}/source", "--by_length=2,4", f"--training_text={files}/ref"]
    places = [f"--report={files}/page.html", f"--report_files={files}/paper"]
    compare(files, *more, *places, "--ngrams=2", "--format=csv")
    told = capsys.readouterr()
    assert told.out.splitlines()[0].startswith("system,BLEU,BLEU 95%,BLEU p,BLEU p (randomised)")
    assert f"written: {files}/page.html (" in told.err and "files in" in told.err
    page = (files / "page.html").read_text()
    assert "BLEU by source length" in page and "F1 by word frequency" in page
    assert "n-grams by order" in page and "Contrastive" not in page
    assert told.out.splitlines()[1].split(",")[1] in page
    assert (files / "paper" / "lengths.tex").read_text().startswith("% BLEU: nrefs:1|")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source=x"], "--source is for one --translation; .* or add --report"),
        (["--contrasts=one=x"], "--contrasts is for --report or --report_files; add one of them"),
        (["--training_text=x"], "--training_text is for --report or --report_files; add one"),
        (["--report="], "--report= names no file"),
        (["--report=x", "--by_length=3"], "--by_length requires --source"),
        (["--report=x", "--baseline=y"], "--baseline is for one --translation; leave it out"),
    ],
)
def test_flags_of_systems_that_do_not_fit_together(files, arguments, message):
    with pytest.raises(app.UsageError, match=message):
        compare(files, *arguments)


def test_boundaries_of_a_page_are_checked_before_the_work(files):
    with pytest.raises(UserError, match="lengths 3,2 must be ascending"):
        compare(files, f"--report={files}/page", "--source=/nosuch", "--by_length=3,2")


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("source", "the same number of lines, but have: one 3, two 3, reference 1 3, source 0"),
        ("training_text", "--training_text has no words"),
    ],
)
def test_files_of_a_page_are_not_empty(files, flag, message):
    (files / "empty").write_text("")
    with pytest.raises(UserError, match=message):
        compare(files, f"--report={files}/page.html", f"--{flag}={files}/empty")


def test_a_page_never_replaces_its_inputs(files):
    with pytest.raises(UserError, match="would overwrite the input"):
        compare(files, f"--report={files}/ref")
    contrasts = files / "contrasts.json"
    contrasts.write_text("{}")
    with pytest.raises(UserError, match=r"contrasts\.json would overwrite the input"):
        compare(files, f"--report_files={files}", f"--contrasts=one={contrasts}")
    assert contrasts.read_text() == "{}"
    with pytest.raises(app.UsageError, match="--report is for --systems"):
        score(files, "--report=page.html")


def test_a_folder_of_files_is_checked_before_the_work(files, monkeypatch):
    monkeypatch.setattr(eval_command, "score_systems", lambda _: pytest.fail("it began"))
    (files / "paper" / "scores.csv").mkdir(parents=True)
    for folder, message in (("ref", "cannot write .*ref"), ("paper", r"scores\.csv is a folder")):
        with pytest.raises(UserError, match=message):
            compare(files, f"--report_files={files}/{folder}")
    with pytest.raises(UserError, match=r"scores\.json is one of the --report_files, too"):
        compare(files, f"--report={files}/scores.json", f"--report_files={files}")


def test_ngrams_compared_with_a_baseline_and_their_plot(files, capsys):
    flags = (f"--baseline={files}/ref2", "--ngrams=8", "--lowercase", f"--plot={files}/ngrams.png")
    (files / "out").write_text("".join(f"{line}\n" for line in REFERENCE), encoding="utf-8")
    score(files, *flags)
    lines = capsys.readouterr().out.splitlines()
    expected = ngram_precisions(REFERENCE, REFERENCE, baseline=TRANSLATION, lowercase=True)
    assert lines[4] == f"N-grams compared with {files}/ref2, p by paired bootstrap"
    assert lines[5:] == str(expected).splitlines()
    assert lines[5].startswith("n-gram precision  nrefs:1|bs:1000|seed:12345|case:lc|tok:13a|")
    assert lines[7].split()[:3] == ["1", "17", "100.00"] and lines[-1].split()[1:] == list("0----")
    assert (files / "ngrams.png").read_bytes() == picture_of(ngram_plot(expected))


def test_ngrams_against_several_references_and_no_baseline(files, capsys):
    score(files, f"--reference={files}/ref2", "--ngrams=2", "--tokenize=intl")
    assert [line.split() for line in capsys.readouterr().out.splitlines()[3:]] == [
        ["order", "n-grams", "precision"],
        ["1", "15", "100.00"],
        ["2", "12", "100.00"],
    ]


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("x.pdf", r"--plot=.*x\.pdf: plots are PNG files; write \.png instead of \.pdf"),
        ("nosuch/x.png", "cannot write .*x.png: No such file or directory"),
        ("link.png", "would overwrite the input"),
        ("folder.png", "is a folder; give the name of a file"),
    ],
)
def test_a_plot_that_cannot_be_written_is_refused_at_once(files, flag, message, capsys):
    (files / "link.png").symlink_to("ref")
    (files / "folder.png").mkdir()
    with pytest.raises(UserError, match=message):
        score(files, "--ngrams=2", f"--plot={files}/{flag}")
    assert capsys.readouterr().out == ""
    assert (files / "ref").read_text().splitlines() == REFERENCE


def test_flags_of_ngrams_that_do_not_fit_together(files):
    with pytest.raises(app.UsageError, match="--plot requires --ngrams, which it draws"):
        score(files, f"--plot={files}/x.png")
    with pytest.raises(app.UsageError, match="--plot= names no file"):
        score(files, "--ngrams=2", "--plot=")
    with pytest.raises(app.UsageError, match="--ngrams requires --reference"):
        call(eval_command, f"--translation={files}/out", "--facts=x", "--ngrams=2")


@pytest.mark.parametrize(
    "argument",
    [
        "--systems=a=b",
        "--report=p.html",
        "--ngrams=4",
        "--plot=p.png",
        "--metrics=x",
        "--lowercase",
    ],
)
def test_alignments_are_scored_alone(files, argument):
    flag = argument.partition("=")[0]
    with pytest.raises(app.UsageError, match=f"{flag} is for translations; score --alignments"):
        call(eval_command, "--alignments=x", "--gold_alignments=y", argument)
