from t2t_phrase.figure_fonts import font_notes, unknown_characters

PRIVATE = "\ue0ff"


def test_characters_without_a_font_are_told():
    assert unknown_characters(["Männer", f"a{PRIVATE}", "…$"]) == PRIVATE
    assert font_notes(["Männer"]) == []
    (note,) = font_notes([PRIVATE])
    assert note.startswith(f"no installed font has {PRIVATE}, drawn as boxes")
