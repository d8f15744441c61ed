from t2t_phrase.text.most_frequent import most_frequent


def test_ties_are_in_ascending_order():
    assert most_frequent({"B": 2, "A": 2, "C": 9, "D": 1}, 3) == ["C", "A", "B"]
    assert most_frequent({5: 2, 3: 2, 9: 4}, 2) == [9, 3]
    assert most_frequent({5: 1}, 3) == [5]
