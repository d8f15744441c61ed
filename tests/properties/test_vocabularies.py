"""Vocabularies: damaged files are refused, and text comes back from every vocabulary."""

import contextlib
import pathlib
import tempfile

from hypothesis import example, given
from hypothesis import strategies as st

from t2t_phrase.config import UserError
from t2t_phrase.text.encoders import StoredEncoder, load_encoder, make_encoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.words.encoder import HEADER, WordEncoder
from t2t_phrase.text.words.training import train_words

CORPUS = ["the house is old and a cat sleeps", "die Straße ist naß \\u 1;"]
SUBWORDS = train_subwords(CORPUS, vocab_size=300)
WORDS = train_words(CORPUS, vocab_size=100)
ESCAPES = "\\_u;0123456789"
PIECES = ["<pad>_", "<EOS>_", *ESCAPES, "the", "_", "house_", "ß", "a", "\\1"]
T2T = T2TSubwords(PIECES)
TEXT = st.text(max_size=20)


def use(encoder: StoredEncoder | T2TSubwords) -> None:
    ids = encoder.encode("the ü 漢 \u2028 <pad>\t_\\ house")
    encoder.decode([*ids, -1, 10**9, 2])
    with contextlib.suppress(UserError):
        encoder.encode_with_starts(["the house", ""])


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Return a copy with a few wrong bytes, or cut short, or with bytes put in."""
    at = draw(st.integers(0, len(content) - 1))
    noise = draw(st.binary(max_size=6))
    return content[:at] + noise + content[at + draw(st.sampled_from([0, 1, 6, len(content)])) :]


@given(damaged(SUBWORDS) | damaged(WORDS) | st.binary() | st.binary().map(HEADER.__add__))
@example(b"")
@example(HEADER)
def test_a_damaged_vocabulary_is_refused_or_usable(content: bytes) -> None:
    with contextlib.suppress(UserError):
        use(make_encoder(content))


@given(st.binary(max_size=5))
def test_a_refused_file_is_named(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "vocab.model")
        path.write_bytes(content)
        for load in (load_encoder, T2TSubwords.load):
            try:
                load(path)
            except UserError as error:
                assert "vocab.model" in str(error)
            else:
                raise AssertionError("five bytes are no vocabulary")


@given(st.lists(st.text(max_size=5) | st.sampled_from(["\\" + "9" * 5000 + ";_", "\\_", "\\u"])))
def test_any_pieces_that_spell_the_escapes_are_usable(extra: list[str]) -> None:
    vocabulary = T2TSubwords([*PIECES, *extra])
    use(vocabulary)
    vocabulary.decode(range(vocabulary.vocab_size)).encode()
    vocabulary.decode(range(len(PIECES), vocabulary.vocab_size))


@given(st.lists(st.binary(max_size=6), max_size=4))
def test_any_file_of_pieces_is_usable_or_refused(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "vocab.subwords")
        path.write_bytes(b"\n".join([*(f"'{piece}'".encode() for piece in PIECES), *lines]))
        with contextlib.suppress(UserError):
            use(T2TSubwords.load(path))


@given(TEXT)
def test_text_comes_back_from_subwords(text: str) -> None:
    # U+2581 is SentencePiece's own blank.
    assert make_encoder(SUBWORDS).decode(make_encoder(SUBWORDS).encode(text)) == " ".join(
        text.replace("\u2581", " ").split()
    )


@given(TEXT)
@example("a_b\\u ü;\\9;")
def test_text_comes_back_from_the_subwords_of_tensor2tensor(text: str) -> None:
    assert T2T.decode(T2T.encode(text)) == text


@given(st.lists(st.sampled_from(" ".join(CORPUS).split())))
def test_known_words_come_back(words: list[str]) -> None:
    encoder = WordEncoder(WORDS)
    assert encoder.decode(encoder.encode(" ".join(words))) == " ".join(words)


@given(TEXT)
def test_every_token_begins_where_it_stands(text: str) -> None:
    for encoder in (make_encoder(SUBWORDS), WordEncoder(WORDS)):
        ids, starts = encoder.encode_with_starts([text])[0]
        assert len(ids) == len(starts) and starts == sorted(starts)
        assert all(0 <= start <= len(text.encode()) for start in starts)
        assert ids == encoder.encode(text)
