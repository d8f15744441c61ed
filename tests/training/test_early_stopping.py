import pytest

from t2t_phrase.config import UserError
from t2t_phrase.runs.history import History
from t2t_phrase.training.early_stopping import EarlyStopping


def history(metric, *values):
    return History({10 * (i + 1): {metric: value} for i, value in enumerate(values)})


@pytest.mark.parametrize(("values", "stops"), [
    ([5.0, 4.0, 3.0], False),
    ([5.0, 4.0, 3.95, 4.5], True),  # 3.95 is no improvement by more than 0.1
    ([5.0, 4.0, 3.95], False),  # 10 steps only
    ([5.0, 4.0, 3.95, 3.85], False),  # together they are
    ([5.0], False),
    ([], False),
])  # fmt: skip
def test_patience_with_the_loss(values, stops):
    stopping = EarlyStopping(steps=20, metric="loss", delta=0.1)
    assert stopping.exhausted(history("loss", *values)) == stops


def test_patience_counts_from_the_last_gain():
    stopping = EarlyStopping(steps=20, metric="loss", delta=0.1)
    assert stopping.last_gain(history("loss", 5.0, 4.0, 3.95)) == 20
    assert stopping.last_gain(history("loss")) == 0
    assert EarlyStopping(metric="bleu").last_gain(history("bleu", 0.0, 0.0)) == 10


def test_higher_bleu_is_better():
    stopping = EarlyStopping(steps=20, metric="bleu", delta=0.0)
    assert stopping.exhausted(history("bleu", 20.0, 19.0, 20.0))
    assert not stopping.exhausted(history("bleu", 20.0, 21.0, 20.0))
    assert history("bleu", 20.0, 22.0, 22.0).best("bleu", lower=False) == 20
    assert history("loss", 3.0, 2.0, 2.0).best("loss", lower=True) == 20
    assert history("loss", 3.0).best("bleu", lower=False) is None


def test_without_patience_nothing_stops():
    assert not EarlyStopping().exhausted(history("loss", 1.0, *[9.0] * 50))


def test_evaluations_without_the_metric_do_not_count():
    stopping = EarlyStopping(steps=20, metric="bleu", delta=0.0)
    missing = {10: {}, 20: {"bleu": 20.0}, 30: {"loss": 1.0}, 40: {}, 50: {}}
    assert not stopping.exhausted(History(missing))
    assert not stopping.exhausted(History({**missing, 60: {"bleu": 21.0}}))
    assert stopping.exhausted(History({**missing, 60: {"bleu": 19.0}}))
    assert not stopping.exhausted(History({10: {}, 20: {}, 30: {}}))


@pytest.mark.parametrize(("metric", "lower"), [
    *[("loss", True), ("nll", True), ("coverage", True), ("bleu", False)],
    *[("accuracy", False), ("tag_accuracy", False), ("neg_log_perplexity", False)],
])  # fmt: skip
def test_direction_follows_from_the_name(metric, lower):
    stopping = EarlyStopping(steps=20, metric=metric, delta=0.0)
    assert stopping.lower == lower
    assert stopping.exhausted(history(metric, 3.0, 2.0, 1.0)) != lower
    assert history(metric, 3.0, 2.0, 1.0).best(metric, lower=lower) == (30 if lower else 10)


def test_the_direction_of_a_models_own_mean_can_be_chosen():
    stopping = EarlyStopping(steps=20, metric="coverage", delta=0.0, minimize=False)
    assert stopping.exhausted(history("coverage", 3.0, 2.0, 1.0))
    assert history("coverage", 3.0, 2.0, 1.0).best("coverage", lower=stopping.lower) == 10


def test_the_wrong_direction_is_refused():
    EarlyStopping(metric="bleu", minimize=False)
    EarlyStopping(metric="loss", minimize=True)
    with pytest.raises(UserError, match="minimize=true: higher bleu is better"):
        EarlyStopping(metric="bleu", minimize=True)


def test_a_file_keeps_the_scores(tmp_path):
    kept = history("loss", 3.0, 2.0, 1.0)
    assert History.load(tmp_path, until=100).scores == {}
    kept.save(tmp_path)
    assert History.load(tmp_path, until=100) == kept
    assert sorted(History.load(tmp_path, until=20).scores) == [10, 20]


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"steps": -5}, "steps=-5: must not be negative"),
        ({"steps": 1, "delta": -0.1}, "metric_delta=-0.1: must be a non-negative number"),
        ({"steps": 1, "delta": float("nan")}, "metric_delta=nan"),
        ({"steps": 1, "delta": float("inf")}, "metric_delta=inf"),
    ],
)
def test_numbers_out_of_range(options, flag):
    with pytest.raises(UserError, match=f"--eval_early_stopping_{flag}"):
        EarlyStopping(**options)
