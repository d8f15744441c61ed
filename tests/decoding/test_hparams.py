import pathlib
import re

import pytest

from t2t_phrase.config import HParamsError
from t2t_phrase.decoding.hparams import BOUNDS, DecodeHParams, searches_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBERS = {
    name
    for name, value in vars(DecodeHParams()).items()
    if not isinstance(value, bool | tuple | str)
}
# What else a value needs.
SAMPLING = {"sampling_temp": 1.0}
NEEDED = {
    "sampling_keep_top_k": SAMPLING,
    "sampling_top_p": SAMPLING,
    "sampling_epsilon": SAMPLING,
    "num_samples": SAMPLING,
    "random_seed": SAMPLING,
    "min_length": {"max_length": 0, "extra_length": 10_000},
}


def test_every_number_has_bounds_and_keeps_them():
    assert set(BOUNDS) == NUMBERS
    for name, (least, most) in BOUNDS.items():
        if name in ("num_groups", "diversity_strength"):
            continue  # Each needs the other.
        others = NEEDED.get(name, {})
        for value in (least, most):
            assert getattr(DecodeHParams().replace(**others, **{name: value}), name) == value
        for value in (least - 1, most + 1, most * 10**6):
            with pytest.raises(HParamsError, match=rf"{name}: (must|expected) .*, got "):
                DecodeHParams().replace(**others, **{name: value})


def test_defaults_and_bounds_are_those_of_the_documentation():
    text = (ROOT / "docs/decoding.md").read_text(encoding="utf-8")
    table = text.split("\n## Options\n")[1].split("\n## ")[0]
    defaults, bounds = {}, {}
    for line in re.findall(r"^\| `.*", table, re.M):
        first, *cells = (cell.strip() for cell in line.split("|")[1:4])
        names = re.findall(r"`(\w+)`", first)
        for found, cell in zip((defaults, bounds), cells, strict=True):
            parts = [cell] if len(names) == 1 else cell.split(", ")
            # One value may be that of all names.
            found |= dict(zip(names, parts * (len(names) // len(parts)), strict=True))
    for name, value in vars(DecodeHParams()).items():
        shown = "`[]`" if value == () else str(value).lower().removesuffix(".0")
        assert defaults.pop(name) == shown, name
        if found := re.fullmatch(r"(\d+) to (\d+)", bounds[name]):
            assert tuple(map(int, found.groups())) == BOUNDS[name], name
    assert not defaults


def test_a_temperature_near_zero_is_refused():
    with pytest.raises(HParamsError, match=r"sampling_temp: must be 0 or at least 0\.001, got"):
        DecodeHParams(sampling_temp=1e-9)


def test_groups_and_their_strength_have_bounds() -> None:
    for groups, strength in ((2, 1e-6), (1000, 1000.0)):
        options = {"beam_size": 1000, "num_groups": groups, "diversity_strength": strength}
        assert DecodeHParams(**options).num_groups == groups
    for options in ({"num_groups": 0}, {"num_groups": 1001}, {"diversity_strength": -1}):
        with pytest.raises(HParamsError, match=r"(groups|strength): must .*, got "):
            DecodeHParams(**options)


@pytest.mark.parametrize(
    "options, messages",
    [
        ("num_groups=3,diversity_strength=1", ["beam_size=4 is not a multiple of it"]),
        ("num_groups=2", ["diverse beams need both"]),
        ("min_length=52", ["min_length=52 leaves no room for EOS in translations of one word"]),
        (
            "max_input_size=1,extra_length=2,min_length=3",
            ["of one word, which have at most extra_length + 1 = 3 tokens"],
        ),
        ("min_length=9,max_length=9", ["min_length=9 leaves no room for EOS in 9 tokens"]),
        ("diversity_strength=1", ["diverse beams need both"]),
        ("coverage_penalty=0.2,beam_size=1", ["coverage_penalty=0.2: compares the hypotheses"]),
        (
            "coverage_penalty=0.2,num_groups=2,diversity_strength=1,sampling_temp=1",
            [
                f"{name}: cannot be used with sampling_temp"
                for name in ("num_groups", "diversity_strength", "coverage_penalty")
            ],
        ),
        (
            "num_samples=3,mbr=true,sampling_top_p=0.9,sampling_epsilon=0.1,random_seed=7",
            [
                f"{name}: is only used with sampling_temp above 0"
                for name in (
                    *("num_samples", "mbr", "sampling_top_p", "sampling_epsilon"),
                    "random_seed",
                )
            ],
        ),
        ("sampling_temp=1,mbr=true", ["mbr=true: compares samples with each other"]),
        (
            "search=beam_search,no_repeat_ngram_size=3,coverage_penalty=1",
            [
                f"{name}: cannot be used with search=beam_search"
                for name in ("no_repeat_ngram_size", "coverage_penalty")
            ],
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_at_once(options, messages) -> None:
    with pytest.raises(HParamsError) as caught:
        DecodeHParams().override(options)
    for message in messages:
        assert message in str(caught.value)


def test_the_number_of_samples() -> None:
    sampling = DecodeHParams(sampling_temp=1.0, beam_size=3)
    assert searches_of(sampling) == 1
    assert searches_of(sampling.replace(return_beams=True)) == 3
    assert searches_of(sampling.replace(num_samples=7)) == 7
    assert searches_of(sampling.replace(num_samples=7, return_beams=True)) == 7
    assert searches_of(DecodeHParams(return_beams=True)) == 1
