from t2t_phrase.evaluation.mean_text import mean_text


def test_several_scores_have_a_spread():
    assert mean_text([40.0, 42.0]) == "41.00 ± 1.41"
    assert mean_text([40.0]) == "40.00"
