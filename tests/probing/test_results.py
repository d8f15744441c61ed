import json

import numpy as np
import pytest
from planted_probes import planted

from t2t_phrase.evaluation.mcnemar import mcnemar
from t2t_phrase.probing.baselines import UNTRAINED
from t2t_phrase.probing.corpus import ProbeCorpus
from t2t_phrase.probing.measures import labels_of
from t2t_phrase.probing.results import SCRATCH, as_json, make_result, rows, standard_error, tables

TASKS = [planted(unit)[1] for unit in ("sentence", "word")]


def result(encoder, data, wrong, *, seed=1, setting="frozen", **fields):
    """Return a result with the first `wrong` sentences predicted wrongly."""
    predicted = [
        1 - gold if i < wrong else gold for i, gold in enumerate(labels_of(data.labels["test"]))
    ]
    return make_result(
        data,
        predicted,
        setting=setting,
        hparams_set="majority" if setting == "baseline" else "transformer_demo",
        encoder=encoder,
        seed=seed,
        **fields,
    )


@pytest.fixture
def results():
    voice, pos = TASKS
    return [
        result("", voice, 30, setting="baseline"),
        result("runs/a", voice, 4),
        result("runs/a", voice, 6, seed=2),
        result("runs/a", pos, 2),
        result("runs/b", voice, 8),
        result("runs/b", voice, 10, seed=2),
        result(SCRATCH, voice, 0, setting="scratch", supervised=True),
    ]


def test_tables(results):
    accuracy, f1, p = [text.split("\n") for text in tables(TASKS, results).split("\n\n")]
    assert accuracy[0] == "| accuracy | encoder | voice | pos |" and f1[0].startswith("| macro-F1")
    error = 100 * standard_error(results[1:3])
    mean = 100 * (60 + 58) / 128
    assert accuracy[3].startswith(f"| `transformer_demo` | runs/a | {mean:.2f} ± {error:.2f} | ")
    assert accuracy[2].startswith("| majority |  | 53.12 ± ") and accuracy[2].endswith(" |  |")
    assert accuracy[5].startswith("| `transformer_demo` (trained on labels) | from scratch | 100.0")
    assert p[0] == "| p against `transformer_demo`, runs/a | encoder | voice | pos |"
    first, second = (np.concatenate([r.right for r in results[i : i + 2]]) for i in (1, 4))
    p_value = mcnemar(sum(first & ~second), sum(second & ~first))
    assert p[3] == f"| `transformer_demo` | runs/b | {p_value:.3f} |  |"
    # Other numbers of seeds cannot be compared seed by seed.
    more = tables(TASKS, [*results, result("runs/b", TASKS[0], 9, seed=3)])
    assert "\n| `transformer_demo` | runs/b |  |  |" in more
    # A baseline is compared with every seed.
    assert p[2].startswith("| majority |  | < 0.001 |")


def test_runs_may_share_a_row(results):
    found = rows(results, pool_runs=True)
    assert [row.encoder for row in found] == ["", "2 runs", SCRATCH]
    assert len(found[1].results["voice"]) == 4
    untrained = result(UNTRAINED, TASKS[0], 20, setting="baseline")
    assert "p against" not in tables(TASKS, [untrained, *results[1:3]])


def test_a_run_named_like_the_baseline_has_a_row_of_its_own():
    voice = TASKS[0]
    untrained = result(UNTRAINED, voice, 60, setting="baseline")
    found = [untrained, result(UNTRAINED, voice, 4), result("runs/b", voice, 8)]
    assert [len(row.results["voice"]) for row in rows(found)] == [1, 1, 1]
    assert "| p against `transformer_demo`, untrained |" in tables(TASKS, found)


def test_the_error_of_several_seeds_has_two_parts(results):
    one, other = results[1:3]
    sentences = (one.standard_error**2 + other.standard_error**2) / 2
    seeds = (one.accuracy - other.accuracy) ** 2 / 2 / 2
    assert standard_error([one, other]) == pytest.approx((sentences + seeds) ** 0.5)
    assert standard_error([one]) == pytest.approx(one.standard_error)


def test_lines_and_json(results):
    assert results[0].line(TASKS[0]).endswith("of 64 sentences, majority")
    assert "runs/a, seed 1, 0 units" in results[1].line(TASKS[0])
    splits = {"train": [], "dev": [], "test": []}
    found = as_json("f", ProbeCorpus(splits, {"repeated": 2}), TASKS, results, {"patience": 5})
    assert json.loads(json.dumps(found)) == found
    assert found["results"][1]["accuracy"] == 60 / 64 and found["left_out"] == {"repeated": 2}
    assert found["tasks"]["pos"]["labels"]["dev"] == TASKS[1].size("dev")
    assert set(found["tasks"]["voice"]["classes"]) == {"even", "odd"}
