"""Options of data generation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Literal

from t2t_phrase.config import HParams
from t2t_phrase.corpus_sizes import AUTO
from t2t_phrase.text.symbols import symbol_mistakes

VocabType = Literal["subwords", "unigram", "words"]
# Every shard keeps several files open while the pairs are distributed.
MAX_SHARDS = 400
# Each takes as much space as the training records.
MAX_SEGMENTATIONS = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class GenerateOptions(HParams):
    """Options of data generation; 0 and None stand for the problem's defaults."""

    num_shards: int = 0  # training shards
    vocab_type: VocabType | None = None  # subwords: BPE
    shared_vocab: bool | None = None  # whether source and target share one vocabulary
    vocab_size: int = 0  # entries of the vocabulary, or of the source's if there are two; or AUTO
    target_vocab_size: int = 0  # entries of the target's vocabulary
    user_defined_symbols: tuple[str, ...] = ()  # words that are always one entry, such as tags
    vocab_file: tuple[str, ...] = ()  # a vocabulary to use, or the source's and the target's
    vocab_from: str = ""  # folder of data or of a run whose vocabulary is used
    max_characters: int = 0  # a longer side is a fault
    max_cases: int = 0  # maximum number of training pairs to read; 0 = all
    sampled_segmentations: int = 0  # random segmentations of the training set; 0 = none
    sampling_alpha: float = 0.1  # see `segmentations.Sampling`
    sampling_sides: Literal["both", "source", "target"] = "both"  # sides that are sampled
    random_seed: int = 429459  # order of the records within training shards
    num_workers: int = 0  # processes; 0 = one per CPU if the corpus is large, else one

    def check(self) -> Iterator[str]:
        """Yield a message for each value that is out of range."""
        if not 0 <= self.num_shards <= MAX_SHARDS:
            yield f"num_shards={self.num_shards} is not in 0..{MAX_SHARDS}"
        for name in (
            "vocab_size",
            "target_vocab_size",
            "max_characters",
            "max_cases",
            "sampled_segmentations",
            "num_workers",
        ):
            auto = AUTO if name.endswith("vocab_size") else 0
            if getattr(self, name) < 0 and getattr(self, name) != auto:
                yield f"{name}={getattr(self, name)} is negative"
        if self.sampled_segmentations > MAX_SEGMENTATIONS:
            yield f"sampled_segmentations={self.sampled_segmentations} is over {MAX_SEGMENTATIONS}"
        yield from symbol_mistakes(self.user_defined_symbols)
        if not 0 < self.sampling_alpha < 1:
            yield f"sampling_alpha={self.sampling_alpha} must be above 0 and below 1"
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            unused = field.name.startswith("sampling_") and not self.sampled_segmentations
            if unused and value != field.default:
                yield f"{field.name}={value}: is only used with sampled_segmentations"
