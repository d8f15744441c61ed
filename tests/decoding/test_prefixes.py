from t2t_phrase.decoding.prefixes import Prefixes
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords


def test_without_room_for_other_spellings_the_last_word_is_given_as_tokens():
    encoder = SubwordEncoder(train_subwords(["das alte Haus"], vocab_size=280))
    text = "das Haus"
    ids, before = encoder.encode(text), encoder.encode("das")
    longest = len(before) + len(" Haus") + 1  # one token for each letter, and EOS
    free = Prefixes(encoder).encode(text, longest=longest, where="p:1")
    assert [*free.tokens] == before and free.edges and free.ranges
    tight = Prefixes(encoder).encode(text, longest=longest - 1, where="p:1")
    assert [*tight.tokens] == ids and not tight.edges and not tight.ranges
    # After a blank, there is nothing to spell.
    complete = Prefixes(encoder).encode(f"{text} ", longest=len(ids) + 2, where="p:1")
    assert [*complete.tokens] == ids and complete.ranges
