from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.summary import kept_texts


def manifest(**splits):
    entries = {
        split: {"text": dict.fromkeys(text, ""), "side": dict.fromkeys(side, "")}
        for split, (text, side) in splits.items()
    }
    return Manifest("p", {}, splits=entries)


def test_files_of_text_are_one_line():
    both, trees = (["p-dev.en", "p-dev.de"], []), ["p-dev.trees"]
    test = (["p-test.en", "p-test.de"], [])
    assert kept_texts("p", manifest(train=([], []), dev=both, test=test)) == "p-{dev,test}.{en,de}"
    assert kept_texts("p", manifest(dev=(both[0], trees), test=test)) == (
        "p-dev.{en,de,trees}, p-test.{en,de}"
    )
    assert kept_texts("p", manifest(dev=(["p-dev.en"], []))) == "p-dev.en"
    assert kept_texts("p", manifest(train=([], []))) == ""
