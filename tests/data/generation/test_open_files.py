import contextlib
import os

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.open_files import allow_open_files
from t2t_phrase.data.generation.portions import Portion, stage_portion
from t2t_phrase.data.sources.corpus import TextCorpus

resource = pytest.importorskip("resource")


@contextlib.contextmanager
def few_open_files():
    """Yield the limits of open files, with room for 100 until the end."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 64
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 100, limits[1]))
        yield limits
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_the_limit_is_raised(tmp_path):
    with few_open_files() as limits, contextlib.ExitStack() as stack:
        allow_open_files(400)
        for number in range(400):
            stack.enter_context(open(tmp_path / f"{number}", "w"))
    with pytest.raises(UserError, match=r"files must be open.*smaller --num_shards"):
        if limits[1] == resource.RLIM_INFINITY:
            pytest.skip("the number of open files has no limit")
        allow_open_files(limits[1])


def test_a_portion_may_have_many_shards(tmp_path):
    (tmp_path / "text").write_text("ein Haus\n" * 300)
    corpus = TextCorpus({"train": [[tmp_path / "text", tmp_path / "text"]]})
    files = {i: (tmp_path / f"{i}.source", tmp_path / f"{i}.target") for i in range(200)}
    portion = Portion(corpus=corpus, files=files, shards=200, max_characters=99, max_cases=0)
    with few_open_files():
        assert stage_portion(portion).pairs == 300
