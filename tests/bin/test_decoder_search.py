"""Searches are chosen by name, those of a user's own package too."""

import pytest
from toy_run import call, make_toy_run

from t2t_phrase import registry
from t2t_phrase.bin import decoder, exporter
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import chosen_expansion

LINES = ["the house is old", "dogs run", "a cat sleeps in it while dogs run"]
PLUGIN = """
from keras import ops
from t2t_phrase import registry
from t2t_phrase.decoding.search.expansion import Candidates, Expansion
from t2t_phrase.decoding.search.plain_expansion import best_continuations


@registry.searches.register
def only_ends(decoder, features, hparams):
    def expand(alive, index, cache):
        logits, cache, _ = decoder.step(alive.tokens, index, cache)
        ends = ops.arange(logits.shape[-1]) == 1
        logits = ops.where(ends, ops.cast(logits, "float32"), -float("inf"))
        log_probs, parents, tokens = best_continuations(logits, alive.log_probs)
        return Candidates(log_probs, parents, tokens, ops.equal(tokens, 1), notes={}), cache

    return Expansion(expand, decoder.cache, decoder.reorder, notes={})
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    made = make_toy_run(tmp_path_factory.mktemp("toy"))
    with open(made.user_dir / "__init__.py", "a") as file:
        file.write(PLUGIN)
    return made


@pytest.fixture
def decode(toy, tmp_path, monkeypatch):
    """Return a function that translates `LINES` with options of decoding."""
    monkeypatch.setattr(registry.searches, "_entries", dict(registry.searches._entries))
    source = tmp_path / "in.en"
    source.write_text("".join(f"{line}\n" for line in LINES))

    def run(options):
        target = tmp_path / f"{len(list(tmp_path.iterdir()))}.de"
        files = (f"--decode_from_file={source}", f"--decode_to_file={target}")
        call(decoder, *toy.flags, f"--decode_hparams=extra_length=8,{options}", *files)
        return target.read_text().splitlines()

    return run


@pytest.mark.slow
def test_a_search_is_chosen_by_name(decode):
    assert decode("search=beam_search,beam_size=2") == decode("beam_size=2")


def test_a_search_of_a_plug_in_is_used(decode):
    assert any(decode("beam_size=2"))
    assert decode("search=only_ends,beam_size=2") == [""] * len(LINES)


def test_a_plug_in_without_notes_gives_no_alignments(decode):
    with pytest.raises(UserError, match="this search does not record"):
        decode("search=only_ends,beam_size=2,write_alignments=true")


def test_wrong_names_list_the_nearest(decode, toy, tmp_path):
    with pytest.raises(UserError, match=r"search 'beam_serch' is unknown.*beam_search"):
        decode("search=beam_serch")
    with pytest.raises(UserError, match=r"search 'beam_serch' is unknown.*beam_search"):
        flags = ("--decode_hparams=search=beam_serch", f"--export_dir={tmp_path / 'served'}")
        call(exporter, *toy.flags, *flags)


def test_one_search_at_a_time():
    with pytest.raises(HParamsError, match="search=beam_search: cannot be used with sampling_temp"):
        DecodeHParams(search="beam_search", sampling_temp=1.0)
    with pytest.raises(UserError, match="cannot be used with an alignment model"):
        chosen_expansion(DecodeHParams(search="beam_search"), lambda *given: None)
