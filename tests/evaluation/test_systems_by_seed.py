"""Tables of systems with several seeds."""

import statistics

import pytest
from spoiled_text import REVEALING, disguised, revealed

from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value
from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.evaluation.systems import compare_systems
from t2t_phrase.evaluation.systems_by_seed import compare_by_seed

REFERENCE = [f"the house number {n} is red and old" for n in range(40)]
GOOD = [
    [line if n % every else line.replace("red", "blue") for n, line in enumerate(REFERENCE)]
    for every in (3, 4, 5)
]
BAD = [[line.replace("old", "new") for line in own] for own in GOOD[:2]]


def test_means_and_pooled_p():
    found = compare_by_seed({"bad": BAD, "good": GOOD}, REFERENCE, metrics=["bleu", "chrf"])
    for metric, name in (("bleu", "BLEU"), ("chrf", "chrF2")):
        for system, by_seed in (("bad", BAD), ("good", GOOD)):
            expected = [corpus_score(metric, lines, REFERENCE).value for lines in by_seed]
            assert found.systems[system][name].by_seed == expected
        p_value = pooled_p_value(GOOD, BAD, REFERENCE, metric=metric)
        assert found.systems["good"][name].p_value == p_value
        assert found.systems["bad"][name].p_value is None


def test_one_seed_each_is_a_comparison_of_systems():
    one = compare_by_seed({"bad": BAD[:1], "good": GOOD[:1]}, REFERENCE)
    other = compare_systems({"bad": BAD[0], "good": GOOD[0]}, REFERENCE)
    for system in ("bad", "good"):
        ours, theirs = one.systems[system]["BLEU"], other.systems[system]["BLEU"]
        assert ours.by_seed == [pytest.approx(theirs.value)]
        assert ours.p_value == theirs.p_value


def test_tokens_and_case_are_those_asked_for():
    systems = {"bad": BAD[:1], "good": GOOD[:2]}
    hidden, plain = (
        {name: [form(lines) for lines in by_seed] for name, by_seed in systems.items()}
        for form in (disguised, revealed)
    )
    found = compare_by_seed(hidden, disguised(REFERENCE, upper=False), **REVEALING)
    expected = compare_by_seed(plain, revealed(REFERENCE), tokenize="none")
    assert found.systems == expected.systems and found.systems["good"]["BLEU"].by_seed[0] > 50


def test_the_table_states_seeds_and_spread():
    found = compare_by_seed({"bad": BAD[:1], "good": GOOD}, REFERENCE)
    header, (bad, good) = found.table()
    assert header == ["system", "seeds", "BLEU", "BLEU p"]
    values = found.systems["good"]["BLEU"].by_seed
    mean, spread = statistics.mean(values), statistics.stdev(values)
    assert good[:3] == ["good", "3", f"{mean:.2f} ± {spread:.2f}"]
    assert bad == ["bad", "1", f"{found.systems['bad']['BLEU'].by_seed[0]:.2f}", "-"]
    assert found.notes()[0].startswith("BLEU: nrefs:1|case:mixed|")
    assert "seeds pooled (bs:1000|seed:12345)" in found.notes()[1]
