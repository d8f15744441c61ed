from t2t_phrase.text.trees.flat_tree_notes import LISTED, FlatTreeNotes


def test_only_the_first_messages_are_reported(capsys):
    notes = FlatTreeNotes()
    for number in range(LISTED + 3):
        notes(f"sentence {number}")
    said = capsys.readouterr().err.splitlines()
    assert said[:-1] == [f"sentence {number}" for number in range(LISTED)]
    assert said[-1] == "further sentences with flat trees are not listed"
