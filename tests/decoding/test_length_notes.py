from t2t_phrase.decoding.length_notes import length_notes
from t2t_phrase.decoding.sides import EncodedSide


def source(ids, lengths, cut):
    return EncodedSide("source", ids, lengths, cut, features={}, pads={})


def test_nothing_to_say():
    lines = source(ids=[[3, 1], [], [4, 4, 1]], lengths=[2, 1, 3], cut=[])
    assert length_notes(lines, max_input_size=0, max_length=3) == []


def test_cut_lines_one_by_one_and_long_lines_together():
    ids = [[3] * 4, [3] * 3, [3] * 7, [3] * 9]
    lines = source(ids=ids, lengths=[4, 80, 7, 100], cut=[1, 3])
    assert length_notes(lines, max_input_size=9, max_length=6) == [
        "line 2: 80 tokens, cut to 9 (max_input_size)",
        "line 4: 100 tokens, cut to 9 (max_input_size)",
        "2 of 4 inputs are longer than the 6 tokens (max_length) of the longest training example, "
        "up to 9, and may be translated badly: lines 3, 4",
    ]
    cut, _, together = length_notes(lines, max_input_size=9, max_length=6, first=1000)
    assert cut.startswith("line 1002: 80 tokens") and together.endswith("lines 1003, 1004")


def test_a_long_list_is_shortened():
    lines = source(ids=[[3] * 5] * 13, lengths=[5] * 13, cut=[])
    (note,) = length_notes(lines, max_input_size=0, max_length=4)
    assert note.endswith("lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more")
    assert length_notes(source([[3] * 5], [5], []), max_input_size=0, max_length=4)[0].endswith(
        "badly: line 1"
    )
