"""Your own parallel text, with no code to write."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.data.sources.local_problem import LocalProblem


@registry.problems.register
class TranslateText(LocalProblem):
    """Parallel files of your own, found in `--tmp_dir`.

    Either put there `train.src`, `train.tgt`, `dev.src`, `dev.tgt` and, if you have a test set,
    `test.src` and `test.tgt`; one UTF-8 sentence a line, gzipped or not (`train.src.gz`); several
    training files as `train.NAME.src` and `train.NAME.tgt`; several references of a dev or test
    set as `test.tgt.0`, `test.tgt.1`, ... Constituency trees of the sources, if you have them, go
    beside each of them (`train.src.trees`, see docs/trees.md).

    Or write `translate_text.json`, which names files wherever they are, relative to itself; each
    part is a source file and its reference file or files:

        {"train": [["news.en", "news.de"], ["talks.en.gz", "talks.de.gz"]],
         "dev": [["dev.en", "dev.de"]],
         "test": [["test.en", "test.de.0", "test.de.1"]]}

    `--vocab_size` sets the size of the joint vocabulary; a small corpus yields a smaller one.
    """

    languages = ("src", "tgt")
    vocab_size = 16_000
    file_list = "translate_text.json"
    optional_splits = ("test",)
