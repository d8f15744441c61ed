"""The data and the module of a tiny problem, for tests of t2t-phrase-trainer."""

from __future__ import annotations

import pathlib

from tiny_training import write_shards
from toy_run import WORDS

from t2t_phrase.text.encoders import load_encoder
from t2t_phrase.text.subwords.training import train_subwords

USER_MODULE = '''
from t2t_phrase import registry
from t2t_phrase.data.problem import Problem
from t2t_phrase.text.encoders import load_encoder
from t2t_phrase.text.vocabularies import Vocabularies


@registry.problems.register
class TranslateTrainerToy(Problem):
    """Copies sentences of a few words."""

    languages = ("en", "de")
    vocab_size = 300

    def corpus(self, tmp_dir):
        raise NotImplementedError

    def vocabularies(self, data_dir):
        encoder = load_encoder(f"{data_dir}/toy.model")
        return Vocabularies(encoder, encoder)

    def record_files(self, data_dir, split):
        return [f"{data_dir}/{split}/toy-00000-of-00001"]

    def raw_text(self, data_dir, split):
        return ["the house is old", "a cat"], ["the house is old", "a cat"]

    def raw_references(self, data_dir, split):
        return [self.raw_text(data_dir, split)[1]]
'''


def write_toy(folder: pathlib.Path) -> pathlib.Path:
    """Write the data of the problem, and a module for --t2t_usr_dir in the subfolder "user".

    Args:
        folder: an empty one, which is returned.
    """
    (folder / "user").mkdir()
    (folder / "user" / "__init__.py").write_text(USER_MODULE)
    lines = [" ".join(WORDS[i % 7 : i % 7 + 1 + i % 5]) for i in range(40)]
    (folder / "toy.model").write_bytes(train_subwords(lines, vocab_size=300))
    encoder = load_encoder(folder / "toy.model")
    pairs = [([*encoder.encode(line), 1],) * 2 for line in lines]
    for split in ("train", "dev"):
        (folder / split).mkdir()
        write_shards(folder / split, [*pairs, ([3] * 17 + [1], [3, 1])], shards=1)
    return folder
