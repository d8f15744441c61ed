"""The options of decoding, tensor2tensor's `--decode_hparams`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from t2t_phrase import tensor2tensor_options
from t2t_phrase.config import HParams

# The least and the greatest value of each number. A greater value is probably a typing error: it
# would exhaust the memory, or exceed the range of the numbers that the search computes with.
BOUNDS: dict[str, tuple[float, float]] = {
    "beam_size": (1, 1000),
    "alpha": (0, 8),
    "extra_length": (1, 10_000),
    "min_length": (0, 10_001),
    "max_length": (0, 32_768),
    "batch_size": (1, 10_000_000),
    "max_input_size": (0, 32_768),
    "num_groups": (1, 1000),
    "diversity_strength": (0, 1000),
    "coverage_penalty": (0, 1000),
    "no_repeat_ngram_size": (0, 100),
    "sampling_temp": (0, 1000),
    "sampling_keep_top_k": (0, 10_000_000),
    "sampling_top_p": (0, 1),
    "sampling_epsilon": (0, 1),
    "num_samples": (0, 1000),
    "alignment_threshold": (0, 1),
    "alignment_weight": (0, 1000),
    "shortlist_frequent": (0, 10_000_000),
    "shortlist_best": (0, 10_000),
    "random_seed": (1 - 2**31, 2**31 - 1),
}
# Logits divided by a lower temperature are no longer finite.
COLDEST = 0.001
# Options that only sampling reads.
SAMPLING = (
    *("sampling_keep_top_k", "sampling_top_p", "sampling_epsilon"),
    *("num_samples", "mbr", "random_seed"),
)
# Options that only beam search reads.
BEAMS = ("num_groups", "diversity_strength", "coverage_penalty")
# Options that only a search with a lexicon reads.
SHORTLISTS = ("shortlist_frequent", "shortlist_best")
# Options that only the library's own search, without an alignment model, reads.
PLAIN_SEARCH = (*BEAMS, "no_repeat_ngram_size")


@dataclasses.dataclass(frozen=True, kw_only=True)
class DecodeHParams(HParams):
    """Options of search and output, most of them named as in tensor2tensor.

    In tensor2tensor, `write_scores` is called `write_beam_scores`, `batch_size` counts sentences,
    `num_samples` is the number of lines to translate, and `extra_length` is 100.

    Example:
        ```python
        options = t2t_phrase.DecodeHParams(beam_size=5, alpha=1.4)
        translations = t2t_phrase.load("runs/mine").translate(["A house ."], options)
        greedy = options.override("beam_size=1")
        ```
    """

    instead: ClassVar[Mapping[str, str]] = tensor2tensor_options.DECODE_HPARAMS

    beam_size: int = 4  # 1 = greedy
    alpha: float = 0.6  # exponent of the length penalty
    extra_length: int = 50  # longest output = source length + this, in tokens, EOS included
    min_length: int = 0  # fewest tokens before EOS
    max_length: int = 0  # absolute limit of tokens, EOS included; 0 = only extra_length limits
    batch_size: int = 4096  # source tokens decoded at once, padding included
    max_input_size: int = 1024  # longer inputs are cut to this many tokens, with a note; 0 = never
    return_beams: bool = False  # all hypotheses or samples, tab-separated
    write_scores: bool = False  # a score after each hypothesis, tab-separated
    token_probabilities: bool = False  # note the probability of each token of a hypothesis
    num_groups: int = 1  # diverse beams: groups of beam_size / num_groups beams each
    diversity_strength: float = 0.0  # cost of a token for each earlier beam that took it
    coverage_penalty: float = 0.0  # weight of the coverage of source tokens by attention
    no_repeat_ngram_size: int = 0  # no sequence of this many tokens occurs twice; 0 = any may
    search: str = ""  # name of a registered search; "" = beam search, or sampling as below
    sampling_temp: float = 0.0  # above 0: sample from logits / temperature instead of beam search
    sampling_keep_top_k: int = 0  # sample from the k most likely tokens only; 0 = from all
    sampling_top_p: float = 1.0  # from the fewest likeliest tokens that sum to this probability
    sampling_epsilon: float = 0.0  # from tokens of at least this probability
    num_samples: int = 0  # samples of each sentence; 0 = one, or beam_size with return_beams
    mbr: bool = False  # rank samples by their expected chrF, not by score
    random_seed: int = 0  # of sampling
    quantize: Literal["", "int8"] = ""  # "int8": multiply by 8-bit integers, on CPUs
    alignment_threshold: float = 0.15  # alignment model only: less likely positions are pruned
    alignment_weight: float = 1.0  # alignment model only: weight of its log-probabilities in scores
    write_alignments: bool = False  # links between source and target words, in OUTPUT.align
    replace_unknown: bool = False  # unknown words of word-level models, by words of the source
    alignment_layers: tuple[int, ...] = ()  # decoder layers that links are taken from; () = all
    alignment_heads: tuple[int, ...] = ()  # heads of each layer that count for links; () = all
    shortlist_frequent: int = 100  # lexicon only: the most frequent tokens, for every sentence
    shortlist_best: int = 100  # lexicon only: tokens that a source word proposes

    @property
    def aligns(self) -> bool:
        """Whether the source position of every target token is noted."""
        return self.write_alignments or self.replace_unknown

    def given(self, names: Iterable[str]) -> list[str]:
        """Return those of the named options that differ from their defaults."""
        return [name for name in names if getattr(self, name) != getattr(type(self), name)]

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
        # The shortest source has two tokens, EOS included, unless it is cut to EOS.
        shortest = 1 if self.max_input_size == 1 else 2
        most = self.extra_length + shortest
        if self.min_length >= most:
            yield (
                f"min_length={self.min_length} leaves no room for EOS in translations of one word, "
                f"which have at most extra_length + {shortest} = {most} tokens; give a greater "
                "extra_length"
            )
        if self.search and self.sampling_temp:
            yield f"search={self.search}: cannot be used with sampling_temp above 0"
        yield from self._check_sampling()
        yield from self._check_beams()
        for name in ("alignment_layers", "alignment_heads"):
            numbers = getattr(self, name)
            if any(number < 1 for number in numbers) or len({*numbers}) < len(numbers):
                yield f"{name}: must be distinct positive numbers, got {list(numbers)}"

    def _check_sampling(self) -> Iterable[str]:
        if not self.sampling_temp:
            for name in self.given(SAMPLING):
                yield f"{name}: is only used with sampling_temp above 0"
        if self.mbr and searches_of(self) < 2:
            yield "mbr=true: compares samples with each other; give num_samples=2 or more"

    def _check_beams(self) -> Iterable[str]:
        if self.num_groups > 1 and self.beam_size % self.num_groups:
            yield (
                f"num_groups={self.num_groups}: beam_size={self.beam_size} is not a multiple of it"
            )
        if (self.num_groups > 1) != (self.diversity_strength > 0):
            yield (
                f"num_groups={self.num_groups}, diversity_strength={self.diversity_strength}: "
                "diverse beams need both more than one group and a strength above 0"
            )
        if self.coverage_penalty and self.beam_size == 1 and not self.sampling_temp:
            yield (
                f"coverage_penalty={self.coverage_penalty}: compares the hypotheses of a beam, and "
                "beam_size=1 has only one"
            )
        for name in self.given(PLAIN_SEARCH):
            if self.sampling_temp and name in BEAMS:
                yield f"{name}: cannot be used with sampling_temp above 0"
            if self.search:
                yield f"{name}: cannot be used with search={self.search}"


def searches_of(hparams: DecodeHParams) -> int:
    """Return the number of searches for each sentence: one, or one for each sample."""
    if hparams.num_samples:
        return hparams.num_samples
    return hparams.beam_size if hparams.sampling_temp and hparams.return_beams else 1
