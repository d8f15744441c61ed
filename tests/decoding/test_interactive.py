from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.hypothesis import Hypothesis
from t2t_phrase.decoding.interactive import Conversation
from t2t_phrase.decoding.sides import EncodedSide


class Parrot:
    """Says the line once for each beam."""

    def __init__(self, hparams):
        self.hparams = hparams

    def encode(self, lines, features=None):
        limit = self.hparams.max_input_size
        cut = [0] if limit and len(lines[0]) > limit else []
        ids = [list(lines[0])[: limit or None]]
        return EncodedSide("source", ids, [len(lines[0])], cut, features={}, pads={})

    def translate_encoded(self, lines):
        text = "".join(lines.ids[0])
        beams = range(self.hparams.beam_size)
        missing = ("'cat' (terms:1)",) if "cat" in text else ()
        return [[Hypothesis(f"{text} {k}", -float(k), missing=missing) for k in beams]]


def start(**options):
    made = []

    def make(hparams):
        made.append(hparams)
        return Parrot(hparams)

    return Conversation(make, DecodeHParams(**{"beam_size": 1, **options})), made


def test_sentences_are_translated():
    conversation, _ = start()
    assert conversation.answer("hello") == "hello 0"
    assert conversation.answer("x = y") == "x = y 0"


def test_options_change_the_translator():
    conversation, made = start()
    assert conversation.answer("beam_size=2, write_scores=true") == (
        "changed: beam_size=2, write_scores=true"
    )
    assert conversation.answer("hi") == "hi 0\t-0.0000\nhi 1\t-1.0000"
    assert [h.beam_size for h in made] == [1, 2]


def test_a_wrong_option_changes_nothing():
    conversation, made = start()
    answer = conversation.answer("beam_size=2,alfa=1")
    assert answer == "error: DecodeHParams: alfa: unknown; did you mean alpha?"
    assert conversation.answer("hi") == "hi 0" and len(made) == 1


def test_a_cut_is_said():
    conversation, _ = start(max_input_size=3)
    assert conversation.answer("hello") == "hel 0\n(5 tokens, cut to 3 by max_input_size)"


def test_required_entries_without_room_are_said():
    conversation, _ = start(beam_size=2)
    assert conversation.answer("cat") == (
        "cat 0\ncat 1\n(the entry 'cat' (terms:1) is not in the translation, which has no room for "
        "all entries (extra_length, max_length))"
    )


def test_showing_options_and_leaving():
    conversation, _ = start(alpha=0.9)
    assert "alpha=0.9" in conversation.answer("?").split("\n")
    assert conversation.answer(" q ") is None
