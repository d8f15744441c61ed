import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.damage import damaged_files, miscounted_splits, shard_damage
from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.sources.inputs import Inputs


def shard(index, **more):
    return {
        "file": f"toy-train-0000{index}-of-00002",
        "sha256": f"{index}",
        "bytes": 10,
        "records": 2,
        "source_tokens": 3,
        "target_tokens": 4,
        "digests": {"ids": f"ids{index}", "phrases": f"phrases{index}"},
        **more,
    }


def split(*shards, **more):
    return {
        "pairs": sum(s["records"] for s in shards),
        "faults": {"empty side": 1},
        "content": "c",
        "text": {"toy-dev.en": "1"},
        "side": {},
        "shards": list(shards),
        **more,
    }


CONTENT = {
    "format": 1,
    "problem": "toy",
    "options": {"num_shards": 2, "vocab_size": 300},
    "inputs": {"train.en": "1"},
    "parts": {"train": [["train.en"]]},
    "labels": {"tags": {"file": "vocab.toy.tags.txt", "sha256": "5", "size": 9}},
    "versions": {"t2t_phrase": "0"},
    "vocabulary": [{"file": "vocab.toy.300.model", "sha256": "2", "size": 300}],
    "splits": {"train": split(shard(0), shard(1, phrases=7)), "dev": split(shard(0, phrases=3))},
    "complete": True,
    "released": True,
}


def load(folder, content):
    path = manifest_path(folder, "toy")
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return Manifest.load(path)


def test_round_trip(tmp_path):
    manifest = load(tmp_path, CONTENT)
    path = manifest_path(tmp_path, "toy")
    manifest.save(path)
    assert {**CONTENT, "options": manifest.options} == json.loads(path.read_text())
    assert Manifest.load(path) == manifest
    assert Manifest.load(manifest_path(tmp_path, "other")) is None


def paths(value, path=()):
    """Yield the path of every value inside a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(inner, (*path, key))


def replaced(path, value):
    if not path:
        return value
    content = copy.deepcopy(CONTENT)
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return content


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(list(paths(CONTENT))), JSON)
def test_whatever_stands_anywhere_is_read_or_refused(tmp_path_factory, path, value):
    folder = tmp_path_factory.getbasetemp() / "manifests"
    folder.mkdir(exist_ok=True)
    try:
        manifest = load(folder, replaced(path, value))
    except UserError as error:
        assert "toy-manifest.json" in str(error) and "delete it and run" in str(error)
        return
    # What follows can rely on the types.
    manifest.has_feature("phrases")
    manifest.digest(["phrases"])
    manifest.input_changes(Inputs({"train.en": "2"}, {"train": [["b"]]}))
    assert all(line for line in damaged_files(folder, manifest))
    list(miscounted_splits(manifest))
    for entry in manifest.splits.values():
        for each in filter(None, entry["shards"]):
            assert "missing" in shard_damage(folder, each)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = manifest_path(tmp_path_factory.getbasetemp(), "toy")
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"toy-manifest\.json is not a manifest"):
        Manifest.load(path)


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("splits", "train", "shards", 1, "bytes"), -1, "shards[1].bytes is not a whole number"),
        (("splits", "train", "shards", 1, "records"), True, "shards[1].records is not a whole"),
        (("splits", "train", "shards", 1), None, "splits.train has no shards, or not all"),
        (("splits", "train", "shards"), [], "splits.train has no shards, or not all"),
        (("vocabulary",), [], "vocabulary or splits are missing"),
        (("vocabulary", 0, "file"), "vocab.toy./../x", "is not a file of the problem"),
        (("splits", "dev", "text"), {"/etc/passwd": ""}, "'/etc/passwd' is not a file of the"),
        (("problem",), "other", "the problem's name differs from the file's"),
        (("format",), 2, "unknown format version"),
        (("more",), 2, "more is unknown"),
        ((), [], "the content is not an object"),
    ],
)
def test_faults_are_named(tmp_path, path, value, fault):
    with pytest.raises(UserError) as caught:
        load(tmp_path, replaced(path, value))
    assert fault in str(caught.value)


def test_many_brackets_and_folders_are_refused(tmp_path):
    with pytest.raises(UserError, match="too many brackets"):
        load(tmp_path, "[" * 100_000)
    manifest_path(tmp_path, "folder").mkdir()
    with pytest.raises(UserError, match=r"cannot read .*folder-manifest"):
        Manifest.load(manifest_path(tmp_path, "folder"))


def test_the_digest_is_of_what_a_model_reads(tmp_path):
    def digest(path, value, *features):
        return load(tmp_path, replaced(path, value)).digest(features)

    same = digest(("problem",), "toy")
    assert len(same) == 64
    first = ("splits", "train", "shards", 0)
    assert digest((*first, "sha256"), "another") == same
    assert digest((*first, "digests", "phrases"), "another") == same
    assert digest((*first, "digests", "ids"), "another") != same
    assert digest(("splits", "dev", "shards", 0, "digests", "ids"), "another") != same
    assert digest(("splits", "train", "shards"), [shard(1), shard(0)]) != same
    with_phrases = digest(("problem",), "toy", "phrases")
    assert with_phrases != same
    assert digest((*first, "digests", "phrases"), "another", "phrases") != with_phrases
