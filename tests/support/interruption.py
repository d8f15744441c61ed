"""Decoding that is interrupted after some batches."""

import contextlib

import pytest

from t2t_phrase.decoding.translator import Translator


@contextlib.contextmanager
def interrupted_after(count, monkeypatch):
    """Interrupt what is decoded within, as Ctrl-C does, after `count` batches.

    `Translator.batches` is patched meanwhile; the test fails if there are fewer batches.
    """
    batches, left = Translator.batches, [count]

    def some(*args, **kwargs):
        for found in batches(*args, **kwargs):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            yield found

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Translator, "batches", some)
        yield
