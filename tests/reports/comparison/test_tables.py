"""The tables have the numbers of `evaluation`; significance is that of sacreBLEU's command."""

import json
import random
import re
import subprocess
import sys

import pytest

from t2t_phrase import grammar
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.by_frequency import f1_by_frequency, word_counts
from t2t_phrase.evaluation.by_length import bleu_by_length
from t2t_phrase.evaluation.ngram_precision import ngram_precisions
from t2t_phrase.evaluation.phenomena import accuracies, compare, judge
from t2t_phrase.reports.comparison.inputs import ComparisonInputs, read_contrasts
from t2t_phrase.reports.comparison.tables import NAMES, measure

PAIRS = list(grammar.generate("test", 60))
SOURCES, REFERENCES = [pair.source for pair in PAIRS], [pair.target for pair in PAIRS]
FACTS = [pair.facts.renderings for pair in PAIRS]


def damaged(share, seed):
    draw = random.Random(seed)
    return [
        " ".join(w if draw.random() > share else draw.choice(["der", "die", "das"]) for w in words)
        for words in (line.split() for line in REFERENCES)
    ]


SYSTEMS = {"base": damaged(0.4, 1), "a|b": damaged(0.3, 2), "same": damaged(0.4, 1)}
CONTRASTS = {
    "base": {"verb": (3, 4), "all": (3, 4)},
    "same": {"noun": (1, 2), "verb": (2, 4), "all": (3, 6)},
}


@pytest.fixture(scope="module")
def given():
    return ComparisonInputs(
        systems=SYSTEMS,
        references=[REFERENCES],
        sources=SOURCES,
        boundaries=(8, 12),
        orders=3,
        facts=FACTS,
        contrasts=CONTRASTS,
        word_counts=word_counts(REFERENCES[:20]),
        metrics=("bleu", "chrf"),
        resamples=100,
        exchanges=200,
    )


@pytest.fixture(scope="module")
def measured(given):
    return measure(given, log=lambda text: None)


@pytest.fixture(scope="module")
def tables(measured):
    return {table.name: table for table in measured.tables}


def test_all_names_of_tables_are_known(tables):
    assert tuple(tables) == NAMES


def sacrebleu(folder, test, count):
    """Return the numbers in the table that sacreBLEU's command prints, row by row."""
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", "base", "x", "-m", "bleu", "chrf"]
    command += ["-w", "4", "--format", "text", f"--paired-{test}", f"--paired-{test}-n", str(count)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("╘")[0]
    return re.findall(r"\d+\.\d{4}", table)


def test_significance_is_that_of_sacrebleus_command(measured, tables, tmp_path):
    for name, lines in {"ref": REFERENCES, "base": SYSTEMS["base"], "x": SYSTEMS["a|b"]}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    base, own = (
        [measured.scores.systems[s][m] for m in ("BLEU", "chrF2")] for s in ("base", "a|b")
    )
    boot = [
        f"{v:.4f}" for score in (*base, *own) for v in (score.value, score.mean, score.interval)
    ]
    boot += [f"{score.p_value:.4f}" for score in own]
    assert sacrebleu(tmp_path, "bs", 100) == boot
    exchange = [f"{score.value:.4f}" for score in (*base, *own)]
    exchange += [f"{score.p_randomised:.4f}" for score in own]
    assert sacrebleu(tmp_path, "ar", 200) == exchange
    score = measured.scores.systems["a|b"]["BLEU"]
    assert tables["scores"].rows[1][:5] == [
        "a|b",
        f"{score.value:.2f}",
        f"{score.mean:.2f} ± {score.interval:.2f}",
        f"{score.p_value:.4f}",
        f"{score.p_randomised:.4f}",
    ]
    assert tables["scores"].rows[2][3:5] == ["1.0000", "1.0000"]
    notes = tables["scores"].notes
    assert notes[0].startswith("BLEU: nrefs:1|bs:100|seed:12345|")
    assert notes[2].startswith("BLEU (randomised): nrefs:1|ar:200|seed:12345|")


def test_columns_have_names_of_their_own(tables):
    for table in tables.values():
        assert len(set(table.header)) == len(table.header)
        assert all(len(row) == len(table.header) for row in table.rows)


def test_lengths(tables):
    expected = {
        name: bleu_by_length(lines, REFERENCES, SOURCES, boundaries=(8, 12))
        for name, lines in SYSTEMS.items()
    }
    assert tables["lengths"].rows == [
        [
            group.name,
            str(group.sentences),
            *(f"{own[at].score.value:.2f}" for own in expected.values()),
        ]
        for at, group in enumerate(expected["base"])
    ]


def test_ngrams(tables):
    own = ngram_precisions(
        SYSTEMS["a|b"], REFERENCES, orders=3, baseline=SYSTEMS["base"], resamples=100
    )
    assert [row[1:5] for row in tables["ngrams"].rows] == [
        [f"{o.baseline:.2f}", f"{o.precision:.2f}", f"{o.difference:+.2f}", f"{o.p_value:.4f}"]
        for o in own.orders
    ]


def test_frequencies(tables):
    groups = f1_by_frequency(SYSTEMS["a|b"], REFERENCES, word_counts(REFERENCES[:20]))
    assert [row[3] for row in tables["frequencies"].rows] == [
        "-" if group.f1 is None else f"{group.f1:.2f}" for group in groups
    ]


def test_phenomena(tables):
    base, own = (judge(SYSTEMS[name], FACTS) for name in ("base", "a|b"))
    rows = zip(accuracies(base), accuracies(own), compare(own, base), strict=True)
    assert [row[:5] for row in tables["phenomena"].rows] == [
        [a.kind, str(a.total), f"{a.percent:.2f}%", f"{b.percent:.2f}%", f"{c.p_value:.4f}"]
        for a, b, c in rows
    ]


def test_contrasts(tables):
    assert tables["contrasts"].header == ["kind", "base", "pairs (base)", "same", "pairs (same)"]
    assert tables["contrasts"].rows == [
        ["verb", "75.00%", "4", "50.00%", "4"],
        ["noun", "-", "0", "50.00%", "2"],
        ["all", "75.00%", "4", "50.00%", "6"],
    ]


def test_only_what_is_given_is_measured():
    given = ComparisonInputs(
        systems={"a": ["x y"] * 3, "b": ["x z"] * 3},
        references=[["x y"] * 3],
        resamples=5,
        exchanges=5,
    )
    found = measure(given, log=lambda text: None)
    assert [table.name for table in found.tables] == ["scores"]


def test_inputs_that_do_not_fit():
    with pytest.raises(UserError, match="give at least two"):
        ComparisonInputs(systems={"a": ["x"]}, references=[["x"]])
    with pytest.raises(UserError, match="a 1, b 2, reference 1 1, source 3"):
        ComparisonInputs(
            systems={"a": ["x"], "b": ["x", "y"]}, references=[["x"]], sources=["s"] * 3
        )
    for empty in ("sources", "facts"):
        with pytest.raises(UserError, match=rf"reference 1 1, {empty.removesuffix('s')}s? 0"):
            ComparisonInputs(systems={"a": ["x"], "b": ["x"]}, references=[["x"]], **{empty: []})
    with pytest.raises(UserError, match="--training_text has no words"):
        ComparisonInputs(systems={"a": ["x"], "b": ["x"]}, references=[["x"]], word_counts={})
    with pytest.raises(UserError, match="--contrasts: 'c' is not a system; --systems has a, b"):
        ComparisonInputs(
            systems={"a": ["x"], "b": ["x"]}, references=[["x"]], contrasts={"c": {"all": (1, 1)}}
        )


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"kinds": {}, "overall": {"right": 2, "total": 1}}']
)
def test_files_without_counts_are_refused(tmp_path, content):
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(UserError, match=r"c\.json"):
        read_contrasts(str(tmp_path / "c.json"))


def test_counts_of_contrastive_pairs_are_read(tmp_path):
    share = {"right": 1, "total": 2, "accuracy": 50.0}
    content = {"overall": share, "kinds": {"verb": share}, "distances": {}}
    (tmp_path / "c.json").write_text(json.dumps(content))
    assert read_contrasts(str(tmp_path / "c.json")) == {"verb": (1, 2), "all": (1, 2)}


def test_a_system_named_like_another_column_is_refused():
    given = ComparisonInputs(
        systems={"base": REFERENCES, "sentences": REFERENCES},
        references=[REFERENCES],
        sources=SOURCES,
        boundaries=(8,),
        metrics=("bleu",),
        resamples=2,
        orders=0,
    )
    with pytest.raises(UserError, match="another column named 'sentences'; give the system"):
        measure(given, log=lambda text: None)
