import math

import pytest
import tensorflow as tf

from t2t_phrase.reports.run.scalars import (
    mean_tokens_per_second,
    read_scalars,
    seconds_of_updates,
)
from t2t_phrase.training.summaries import Summaries


def write(folder, *reports):
    summaries = Summaries(folder, writes=True, log=print)
    for step, values in reports:
        summaries.write("train", step, values)
    summaries.close()


def values(points):
    return [(point.step, point.value) for point in points]


def test_scalars_are_those_that_were_written(tmp_path):
    write(tmp_path, (10, {"loss": 2.5, "lr": 0.5}), (20, {"loss": math.inf}))
    found = read_scalars(tmp_path)
    assert values(found["loss"]) == [(10, 2.5), (20, math.inf)]
    assert values(found["lr"]) == [(10, 0.5)]
    assert found["loss"][0].time <= found["loss"][1].time


def test_of_updates_that_were_repeated_the_last_ones_count(tmp_path):
    write(tmp_path, (10, {"loss": 3.0}), (20, {"loss": 2.0}))
    # Two files of the same second have the order of their names, not of their time.
    for file in tmp_path.glob("*tfevents*"):
        file.rename(tmp_path / f"z{file.name}")
    write(tmp_path, (20, {"loss": 1.0}), (30, {"loss": 0.5}))
    assert values(read_scalars(tmp_path)["loss"]) == [(10, 3.0), (20, 1.0), (30, 0.5)]


def test_a_file_that_is_cut_off_is_read_as_far_as_it_is_whole(tmp_path):
    write(tmp_path, (10, {"loss": 3.0}), (20, {"loss": 2.0}))
    (file,) = tmp_path.glob("*tfevents*")
    file.write_bytes(file.read_bytes()[:-5])
    assert values(read_scalars(tmp_path)["loss"]) == [(10, 3.0)]
    file.write_bytes(b"no events")
    assert read_scalars(tmp_path) == {} == read_scalars(tmp_path / "nowhere")


def test_other_summaries_are_left_out(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=10):
        tf.summary.text("notes", "a second try")
        tf.summary.histogram("weights", [0.5, 1.0])
        tf.summary.scalar("own", 0.25)
    found = read_scalars(tmp_path)
    assert {name: values(points) for name, points in found.items()} == {"own": [(10, 0.25)]}


def test_time_and_throughput(tmp_path):
    write(
        tmp_path,
        (100, {"steps_per_second": 4.0, "tokens_per_second": 1000.0}),
        (200, {"steps_per_second": 1.0, "tokens_per_second": 250.0}),
    )
    found = read_scalars(tmp_path)
    assert seconds_of_updates(found) == pytest.approx(25 + 100)
    assert mean_tokens_per_second(found) == pytest.approx((25 * 1000 + 100 * 250) / 125)
    assert seconds_of_updates({}) == 0 and mean_tokens_per_second({}) is None
