from t2t_phrase.evaluation.aligned import aligned


def test_columns_are_aligned_and_lines_have_no_spaces_at_their_ends():
    rows = [["name", "a", "long"], ["x", "100", "1"], ["much longer", "2", ""]]
    assert aligned(rows).split("\n") == [
        "name           a  long",
        "x            100     1",
        "much longer    2",
    ]
