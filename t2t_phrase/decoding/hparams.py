"""The options of decoding, tensor2tensor's `--decode_hparams`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from t2t_phrase.config import HParams

# The least and the greatest value of each number. What is greater is a slip of the keyboard: it
# would exhaust the memory, or leave the range of the numbers that the search computes with.
BOUNDS: dict[str, tuple[float, float]] = {
    "beam_size": (1, 1000),
    "alpha": (0, 8),
    "extra_length": (1, 10_000),
    "min_length": (0, 32_768),
    "max_length": (0, 32_768),
    "batch_size": (1, 10_000_000),
    "max_input_size": (0, 32_768),
    "sampling_temp": (0, 1000),
    "sampling_keep_top_k": (0, 10_000_000),
    "alignment_threshold": (0, 1),
    "alignment_weight": (0, 1000),
    "random_seed": (1 - 2**31, 2**31 - 1),
}
# Logits divided by less are no longer finite.
COLDEST = 0.001


@dataclasses.dataclass(frozen=True, kw_only=True)
class DecodeHParams(HParams):
    """Options of search and output; names are those of tensor2tensor where it has one."""

    beam_size: int = 4  # 1 = greedy
    alpha: float = 0.6  # exponent of the length penalty
    extra_length: int = 50  # longest output = source length + this, in tokens, EOS included
    min_length: int = 0  # fewest tokens before EOS
    max_length: int = 0  # absolute limit of tokens, EOS included; 0 = only extra_length limits
    batch_size: int = 4096  # source tokens decoded at once, padding included
    max_input_size: int = 1024  # longer inputs are cut to so many tokens, with a note; 0 = never
    return_beams: bool = False  # all beam_size hypotheses or samples, tab-separated
    write_scores: bool = False  # a score after each hypothesis, tab-separated
    search: str = ""  # name of a registered search; "" = beam search, or sampling as below
    sampling_temp: float = 0.0  # above 0: sample from logits / temperature instead of beam search
    sampling_keep_top_k: int = 0  # sample from the k most likely tokens only; 0 = from all
    random_seed: int = 0  # of sampling
    alignment_threshold: float = 0.15  # alignment model only: less likely positions are pruned
    alignment_weight: float = 1.0  # alignment model only: of its log-probabilities in the score
    write_alignments: bool = False  # source and target words that are linked, in OUTPUT.align
    replace_unknown: bool = False  # unknown words of word-level models by those of the source
    alignment_layers: tuple[int, ...] = ()  # decoder layers that links are taken from; () = all
    alignment_heads: tuple[int, ...] = ()  # heads of each layer that count for links; () = all

    @property
    def aligns(self) -> bool:
        """Whether the source position of every target token is noted."""
        return self.write_alignments or self.replace_unknown

    @property
    def samples(self) -> int:
        """Number of searches for each sentence: one, or one for each of several samples."""
        return self.beam_size if self.sampling_temp and self.return_beams else 1

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if value < least:
                words = f"at least {least}" if least else "not be negative"
                yield f"{name}: must {'be ' * bool(least)}{words}, got {value}"
            elif value > most:
                yield f"{name}: must be at most {most}, got {value}"
        if 0 < self.sampling_temp < COLDEST:
            yield f"sampling_temp: must be 0 or at least {COLDEST}, got {self.sampling_temp}"
        if self.max_length and self.min_length >= self.max_length:
            yield f"min_length={self.min_length} leaves no room for EOS in {self.max_length} tokens"
        if self.search and self.sampling_temp:
            yield f"search={self.search}: cannot be used with sampling_temp above 0"
        if self.sampling_keep_top_k and not self.sampling_temp:
            yield "sampling_keep_top_k: is only used with sampling_temp above 0"
        for name in ("alignment_layers", "alignment_heads"):
            numbers = getattr(self, name)
            if any(number < 1 for number in numbers) or len({*numbers}) < len(numbers):
                yield f"{name}: must be different numbers from 1 on, got {list(numbers)}"
