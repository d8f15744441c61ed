"""Random segmentations: the distributions that the papers define, from a seed."""

import collections
import math
import random
import time
import tracemalloc

import pytest
from hard_text import foreign_model

from t2t_phrase.config import UserError
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.sampling import SegmentationSampler
from t2t_phrase.text.subwords.training import train_subwords

LINES = ["ab abab ab", "abba ab", "bab abab", "a b ab ba abab é"] * 50
KINDS = ("bpe", "unigram")
COUNT = 4000


def make(kind):
    return SubwordEncoder(train_subwords(LINES, vocab_size=270, model_type=kind))


@pytest.fixture(scope="module", params=KINDS)
def encoder(request):
    return make(request.param)


def drawn(encoder, text, count=COUNT, *, alpha, seed=1):
    return SegmentationSampler(encoder, alpha=alpha, seed=seed).encode_with_starts([text] * count)


def shares(encoder, text, alpha):
    """Return how often each segmentation is drawn."""
    counts = collections.Counter(
        tuple(encoder.pieces(ids)) for ids, _ in drawn(encoder, text, alpha=alpha)
    )
    return {pieces: count / COUNT for pieces, count in counts.items()}


def scores(encoder):
    processor = encoder._processor
    return {
        processor.id_to_piece(i): processor.get_score(i)
        for i in range(encoder.vocab_size)
        if not (processor.is_byte(i) or processor.is_control(i) or processor.is_unknown(i))
    }


def assert_follows(found, expected):
    assert set(found) <= set(expected)
    for pieces, share in expected.items():
        error = 4 * math.sqrt(share * (1 - share) / COUNT) + 1e-9
        assert found.get(pieces, 0) == pytest.approx(share, abs=error), pieces


def test_the_same_seed_draws_the_same_text_in_other_pieces(encoder):
    text = "abab ba é ☃ab abba"
    first, second, other = (drawn(encoder, text, 50, alpha=0.4, seed=s) for s in (1, 1, 2))
    assert first == second != other
    assert len({tuple(ids) for ids, _ in first}) > 3
    data = text.encode()
    for ids, starts in first:
        assert encoder.decode(ids) == text
        for piece, start, end in zip(
            encoder.pieces(ids), starts, [*starts[1:], len(data)], strict=True
        ):
            if not piece.startswith("<0x"):
                assert data[start:end].decode().strip(" ☃") == piece.replace("▁", "")


def test_without_chance_the_segmentation_is_the_usual_one():
    texts = [*LINES[:4], "bbaabab ababab é☃ babba", ""]
    bpe = make("bpe")
    found = SegmentationSampler(bpe, alpha=0.0, seed=1).encode_with_starts(texts)
    assert found == bpe.encode_with_starts(texts)
    unigram = make("unigram")
    # So large an exponent leaves the most likely one.
    found = SegmentationSampler(unigram, alpha=500.0, seed=1).encode_with_starts(texts)
    assert found == unigram.encode_with_starts(texts)


def test_unigram_samples_follow_the_power_of_the_probabilities():
    """P(x) is the product of the pieces' probabilities; all segmentations are enumerated."""
    encoder, alpha = make("unigram"), 0.4
    known = scores(encoder)

    def segmentations(text):
        if not text:
            yield ()
        for end in range(1, len(text) + 1):
            if text[:end] in known:
                for rest in segmentations(text[end:]):
                    yield (text[:end], *rest)

    powers = {x: math.exp(alpha * sum(known[p] for p in x)) for x in segmentations("▁abab")}
    assert len(powers) >= 5
    total = sum(powers.values())
    assert_follows(
        shares(encoder, "abab", alpha), {x: power / total for x, power in powers.items()}
    )


def test_bpe_dropout_follows_the_algorithm():
    """Every candidate is left out on its own; all ways through the algorithm are summed up."""
    encoder, alpha = make("bpe"), 0.4
    known = scores(encoder)

    def outcomes(pieces):
        places = [i for i in range(len(pieces) - 1) if pieces[i] + pieces[i + 1] in known]
        places.sort(key=lambda i: (-known[pieces[i] + pieces[i + 1]], i))
        found = collections.Counter({pieces: alpha ** len(places)})
        for rank, i in enumerate(places):
            merged = (*pieces[:i], pieces[i] + pieces[i + 1], *pieces[i + 2 :])
            for end, share in outcomes(merged).items():
                found[end] += alpha**rank * (1 - alpha) * share
        return found

    expected = outcomes(tuple("▁abab"))
    assert len(expected) >= 5 and sum(expected.values()) == pytest.approx(1)
    assert_follows(shares(encoder, "abab", alpha), expected)


def test_other_vocabularies_are_refused():
    characters = SubwordEncoder(train_subwords(LINES, vocab_size=270, model_type="char"))
    with pytest.raises(UserError, match="byte pair encoding or of a unigram model"):
        SegmentationSampler(characters, alpha=0.1, seed=1)


def test_the_global_generator_is_left_alone(encoder):
    random.seed(3)
    expected = random.random()
    random.seed(3)
    drawn(encoder, "abab", 5, alpha=0.4)
    assert random.random() == expected


def test_sentences_without_blanks_are_drawn_in_time_and_little_memory(encoder):
    text = "ab" * 2000
    sampler = SegmentationSampler(encoder, alpha=0.1, seed=1)
    start = time.process_time()
    tracemalloc.start()
    ((ids, starts),) = sampler.encode_with_starts([text])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Not the square of the length, or more.
    assert time.process_time() - start < 30 and most < 2**26
    assert encoder.decode(ids) == text and len(starts) == len(ids)


def test_texts_with_the_symbol_of_blanks_keep_their_usual_segmentation(encoder):
    (usual,) = encoder.encode_with_starts(["ab a\u2581ba abab"])
    assert drawn(encoder, "ab a\u2581ba abab", 20, alpha=0.5) == [usual] * 20


@pytest.mark.parametrize("kind", KINDS)
def test_starts_are_those_of_the_characters_also_if_the_model_normalizes_text(kind):
    """The rules turn one character into several, or several into one, or capitals into others."""
    lines = ["Abab a…b Abba", "ab½ba Baab ababba", "e\u0301bab bbaba ﬁab"] * 50
    model = foreign_model(
        lines, model_type=kind, byte_fallback=True, normalization_rule_name="nmt_nfkc_cf"
    )
    encoder = SubwordEncoder(model)
    for text in lines[:3]:
        data = text.encode()
        found = drawn(encoder, text, 50, alpha=0.4)
        assert len({tuple(ids) for ids, _ in found}) > 3
        for ids, starts in found:
            for piece, start, end in zip(
                encoder.pieces(ids), starts, [*starts[1:], len(data)], strict=True
            ):
                written = data[start:end].decode()  # Fails inside of a character.
                plain = piece.replace("▁", "")
                if written.isascii() and plain.isascii():
                    assert written.strip().lower() in (plain, "")
