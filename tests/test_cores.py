import json
import os
import subprocess
import sys

import pytest

from t2t_phrase.cores import divide_cores, number_of_parts

SCRIPT = """
import json
import tensorflow as tf
from t2t_phrase.cores import divide_cores
threads = tf.config.threading.get_intra_op_parallelism_threads
few = divide_cores(7, 2), threads()
shared = divide_cores(13, 8), threads()
many = divide_cores(None), threads()
tf.zeros(1)
print(json.dumps([few, shared, many, divide_cores(13, 8)]))
"""


@pytest.mark.slow
def test_each_part_gets_its_share_of_the_cores():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "TF_NUM_INTRAOP_THREADS": "6", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    # 7 sentences are one part: all is left as it is. Of 8 cores, 3 parts get 2 each.
    assert json.loads(done.stdout) == [[1, 0], [3, 2], [6, 1], 1]


def test_once_tensorflow_runs_there_is_one_part():
    import tensorflow as tf

    tf.zeros(1)
    before = tf.config.threading.get_intra_op_parallelism_threads()
    assert divide_cores(1000, 16) == 1
    assert tf.config.threading.get_intra_op_parallelism_threads() == before


@pytest.mark.parametrize(
    ("sentences", "most", "parts"), [(1, 2, 1), (7, 2, 1), (8, 2, 2), (170, 16, 16), (32, 16, 8)]
)
def test_no_part_is_too_small(sentences, most, parts):
    assert number_of_parts(sentences, most) == parts
