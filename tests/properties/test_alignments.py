"""Lines in Pharaoh format: only documented errors, and what is written is read again."""

import contextlib

from hypothesis import example, given
from hypothesis import strategies as st

from t2t_phrase.config import UserError
from t2t_phrase.text.alignments.pharaoh import Links, check_range, read_links, write_links
from t2t_phrase.text.annotations.alignment import Alignment, AlignmentReversed
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

ENCODER = WordEncoder(train_words(["a b ü"], vocab_size=10))
NUMBERS = st.integers(0, 999_999_999)
LINKS = st.frozensets(st.tuples(NUMBERS, NUMBERS), max_size=8)
SOUP = st.lists(
    st.sampled_from([*"0123-?p \t", "0-0 ", "1-1 ", "٣", "½", "\x00", "99999999999"])
).map("".join)
SENTENCES = st.lists(st.sampled_from(["a", "b", " ", "ü", "\u3000", "x."])).map("".join)


@given(line=st.one_of(SOUP, st.text()))
@example(line="0-٣")
@example(line="9" * 5000 + "-0")
def test_only_user_errors_are_raised(line):
    with contextlib.suppress(UserError):
        links = read_links(line)
        assert links.sure.isdisjoint(links.possible)
        check_range(links.all, 3, 3)


@given(sure=LINKS, possible=LINKS)
def test_what_is_written_is_read_again(sure, possible):
    line = write_links(sure, possible)
    assert read_links(line) == Links(sure, possible - sure)
    assert write_links(*read_links(line)) == line


@given(source=SENTENCES, target=SENTENCES, line=SOUP)
def test_every_token_has_a_position_of_the_other_side(source, target, line):
    encoded = [Sentence(text, *ENCODER.encode_with_starts([text])[0]) for text in (source, target)]
    for annotation, (other, own) in ((Alignment(), encoded), (AlignmentReversed(), encoded[::-1])):
        with contextlib.suppress(UserError):
            text = annotation.read(own.text, line, other.text)
            numbers = annotation.encode(own, text, other)
            assert len(numbers) == len(own.ids)
            assert all(0 <= number <= len(other.ids) for number in numbers)
            assert annotation.end(numbers, other) == len(other.ids)
