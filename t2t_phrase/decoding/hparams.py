"""The options of decoding, tensor2tensor's `--decode_hparams`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from t2t_phrase.config import HParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class DecodeHParams(HParams):
    """Options of search and output; names are those of tensor2tensor where it has one."""

    beam_size: int = 4  # 1 = greedy
    alpha: float = 0.6  # exponent of the length penalty
    extra_length: int = 50  # longest output = source length + this, in tokens, EOS included
    min_length: int = 0  # fewest tokens before EOS
    max_length: int = 0  # absolute limit of tokens, EOS included; 0 = only extra_length limits
    batch_size: int = 4096  # source tokens decoded at once, padding included
    max_input_size: int = 0  # longer inputs are cut to so many tokens, with a note; 0 = never
    return_beams: bool = False  # all hypotheses of the beam, tab-separated
    write_scores: bool = False  # a score after each hypothesis, tab-separated
    sampling_temp: float = 0.0  # above 0: sample from logits / temperature instead of beam search
    sampling_keep_top_k: int = 0  # sample from the k most likely tokens only; 0 = from all
    random_seed: int = 0  # of sampling

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        for name, least in (("beam_size", 1), ("batch_size", 1), ("extra_length", 1)):
            if getattr(self, name) < least:
                yield f"{name}: must be at least {least}, got {getattr(self, name)}"
        for name in (
            "alpha",
            "min_length",
            "max_length",
            "max_input_size",
            "sampling_temp",
            "sampling_keep_top_k",
        ):
            if getattr(self, name) < 0:
                yield f"{name}: must not be negative, got {getattr(self, name)}"
        if self.max_length and self.min_length >= self.max_length:
            yield f"min_length={self.min_length} leaves no room for EOS in {self.max_length} tokens"
        if self.sampling_keep_top_k and not self.sampling_temp:
            yield "sampling_keep_top_k: is only used with sampling_temp above 0"
