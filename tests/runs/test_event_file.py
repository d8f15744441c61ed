"""Files of scalars, read by TensorFlow."""

import pathlib

import numpy as np
import tensorflow as tf

from t2t_phrase.runs.event_file import EventFile


def test_tensorflow_reads_them(tmp_path: pathlib.Path) -> None:
    files = [EventFile(tmp_path / "run") for _ in range(2)]
    files[0].write(3, {"loss": 1.5, "rate": 1e-300})
    files[0].write(2**40, {"loss": np.float32(np.nan), "größe": np.inf})
    for file in files:
        file.close()
    first, second = sorted((tmp_path / "run").iterdir(), key=lambda path: -path.stat().st_size)
    events = list(tf.compat.v1.train.summary_iterator(str(first)))
    assert events[0].file_version == "brain.Event:2" and events[0].wall_time > 1e9
    found = [
        (event.step, value.tag, float(tf.make_ndarray(value.tensor)))
        for event in events
        for value in event.summary.value
    ]
    assert found[:2] == [(3, "loss", 1.5), (3, "rate", 0.0)]
    assert found[2][:2] == (2**40, "loss") and np.isnan(found[2][2])
    assert found[3] == (2**40, "größe", np.inf)
    for event in events[1:]:
        assert event.summary.value[0].metadata.plugin_data.plugin_name == "scalars"
    assert len(list(tf.compat.v1.train.summary_iterator(str(second)))) == 1
