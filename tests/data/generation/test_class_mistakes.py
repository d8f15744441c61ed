import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.class_mistakes import class_mistakes
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.problem import get_problem
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import ALIGNMENT, PHRASES, Feature


def problem(**attributes):
    return type("Mine", (LocalProblem,), {"languages": ("en", "de"), **attributes})()


def test_the_librarys_own_problems_have_none():
    for name in ("translate_ende_multi30k", "translate_text", "translate_ende_grammar"):
        assert list(class_mistakes(get_problem(name))) == []
    assert list(class_mistakes(problem(features=(PHRASES, ALIGNMENT), num_shards=400))) == []


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"vocab_type": "word"}, "vocab_type = 'word' is not one of subwords, unigram, words"),
        ({"num_shards": 0}, "num_shards = 0 is not a number from 1 to 400"),
        ({"num_shards": 401}, "num_shards = 401 is not"),
        ({"num_shards": "4"}, "num_shards = '4' is not"),
        ({"vocab_pairs": 0}, "vocab_pairs = 0 is not positive"),
        ({"max_characters": -1}, "max_characters = -1 is not positive"),
        ({"user_defined_symbols": "<BT>"}, "user_defined_symbols = '<BT>' must be a tuple"),
        ({"user_defined_symbols": ("a b",)}, "'a b' is not a single word"),
        ({"features": PHRASES}, "must be a tuple of Feature, such as (PHRASES,)"),
        ({"features": (PHRASES, "tags")}, "must be a tuple of Feature"),
        ({"features": (PHRASES, PHRASES)}, "features: 'phrases' is given twice"),
        *(
            ({"features": (Feature(name=name, stream="x"),)}, f"features: {name!r} is the name of")
            for name in ("inputs", "bytes", "records", "source.splits", "ids", "target_pairs")
        ),
    ],
)
def test_mistakes_are_named_before_anything_is_written(tmp_path, attributes, message):
    mistaken = problem(**attributes)
    (found,) = class_mistakes(mistaken)
    assert message in found
    with pytest.raises(UserError, match="problem mine: ") as raised:
        generate(mistaken, str(tmp_path / "data"), str(tmp_path), log=print)
    assert found in str(raised.value)


def test_all_mistakes_are_named_at_once(tmp_path):
    mistaken = problem(vocab_type="bpe", num_shards=-1)
    with pytest.raises(UserError, match=r"vocab_type = 'bpe'.*; num_shards = -1"):
        generate(mistaken, str(tmp_path / "data"), str(tmp_path), log=print)
