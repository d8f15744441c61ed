from t2t_phrase.probing.word_tokens import word_tokens


def test_the_token_with_the_first_character_stands_for_the_word():
    # a | _house | s | .
    assert word_tokens("a houses.", [0, 1, 7, 8], [0, 1, 7]) == [0, 1, 3]


def test_a_token_that_is_a_blank_is_not_the_word():
    # a | _ | hou | se
    assert word_tokens("a house", [0, 1, 2, 5], [0, 1]) == [0, 2]


def test_words_share_a_token():
    # cannot | _go
    assert word_tokens("cannot go", [0, 6], [0, 3, 6]) == [0, 0, 1]


def test_characters_of_several_bytes():
    # ü | ber | _über
    assert word_tokens("über über", [0, 2, 5], [0, 4]) == [0, 2]


def test_a_sentence_without_tokens():
    assert word_tokens("\u2581", [], [0]) == [0]
