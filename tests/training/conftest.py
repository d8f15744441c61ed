"""Data that several tests of training share."""

import pytest
from tiny_training import random_pairs, write_shards


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Shards of 50 pairs."""
    pairs = random_pairs([1 + i * 7 % 12 for i in range(50)])
    return write_shards(tmp_path_factory.mktemp("records"), pairs)
