import dataclasses
import json

import pytest
from run_records import small_record

from t2t_phrase import registry
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.runs.record import RunRecord, resolve_hparams


def record(**changes):
    registry.discover()
    values = {
        "problem": "translate_toy",
        "model": "transformer",
        "hparams_set": "transformer_tiny",
        "overrides": "",
        "hparams": registry.hparams["transformer_tiny"]().to_dict(),
        "vocab_size": 64,
        "vocabulary": "abc",
        "random_seed": 1,
    }
    return RunRecord(**{**values, **changes})


def test_round_trip(tmp_path):
    saved = record()
    saved.save(tmp_path)
    assert RunRecord.load(tmp_path) == saved
    assert saved.resolved() == registry.hparams["transformer_tiny"]()


def test_absent_and_damaged_files_are_named(tmp_path):
    with pytest.raises(UserError, match=r"hparams.json does not exist: .* is not the --output_dir"):
        RunRecord.load(tmp_path)
    (tmp_path / "hparams.json").write_text("{")
    with pytest.raises(UserError, match=r"hparams.json is damaged"):
        RunRecord.load(tmp_path)


def test_other_settings_are_refused_with_the_difference():
    old = record()
    changed = dataclasses.replace(
        old,
        hparams={**old.hparams, "batch_size": 99},
        random_seed=2,
        overrides="batch_size=99",
        replicas=4,
        train_steps=9,
    )
    with pytest.raises(UserError) as caught:
        changed.check_same(old, "run")
    batch_size = old.hparams["batch_size"]
    assert (
        "--output_dir=run holds a run with different settings:\n"
        f"  batch_size: {batch_size} -> 99\n"
        "  random_seed: 1 -> 2\n"
        "  replicas: 1 -> 4\n"
        "  train_steps: 0 -> 9\n"
    ) in str(caught.value)
    assert "overrides" not in str(caught.value)
    assert "can be resumed on 1 devices or a number that divides this" in str(caught.value)


def test_another_vocabulary_is_that_of_other_data():
    with pytest.raises(UserError, match=r"another vocabulary: give the --data_dir that"):
        record(vocabulary="abd").check_same(record(), "run")


def test_a_set_may_get_another_name_and_a_field_a_default():
    old = record(hparams_set="a_name_that_is_gone")
    del old.hparams["norm"]
    assert old.resolved() == registry.hparams["transformer_tiny"]()
    record().check_same(old, "run")


def test_two_vocabularies_are_part_of_a_run(tmp_path):
    old = record(target_vocab_size=32, target_vocabulary="def")
    old.save(tmp_path)
    assert RunRecord.load(tmp_path) == old
    with pytest.raises(UserError, match="target_vocab_size: 32 -> None"):
        record().check_same(old, "run")


def test_version_and_spelling_do_not_matter():
    old = record(version="0.0.1")
    dataclasses.replace(old, version="9.9.9", overrides="num_heads=4").check_same(old, "run")


def test_values_that_were_not_recorded_are_the_sets():
    new = record()
    old_values = {name: v for name, v in new.hparams.items() if name != "batch_size"}
    new.check_same(record(hparams=old_values), "run")


def test_overrides_say_what_they_change():
    registry.discover()
    base = registry.hparams["transformer_tiny"]()
    text = f"batch_size=777,num_heads={base.num_heads}"
    hparams, told = resolve_hparams("transformer_tiny", text)
    assert hparams == base.replace(batch_size=777)
    assert told == [
        f"batch_size: {base.batch_size} -> 777",
        "num_heads: already as in transformer_tiny",
    ]
    with pytest.raises(UserError, match="did you mean transformer_tiny"):
        resolve_hparams("transformer_tin", "")
    with pytest.raises(HParamsError, match="batch_siz: unknown; did you mean batch_size"):
        resolve_hparams("transformer_tiny", "batch_siz=3")


def test_a_set_that_returns_nothing_is_named(monkeypatch):
    monkeypatch.setitem(registry.hparams._entries, "forgetful", lambda: None)
    with pytest.raises(UserError, match="hparams set forgetful: its function returns None; it mus"):
        resolve_hparams("forgetful", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "is not JSON"),
        (lambda text: text[:-30], "is not JSON"),
        (lambda text: "[" * 100_000, "is not JSON"),
        (lambda text: "null", "is not a JSON object"),
        (lambda text: "[]", "is not a JSON object"),
        (lambda text: text.replace('"transformer"', "null"), "model cannot be None"),
        (lambda text: text.replace('"vocab_size": 64', '"vocab_size": "64"'), "vocab_size cannot"),
        (lambda text: text.replace('"vocab_size": 64', '"vocab_size": true'), "cannot be True"),
        (lambda text: text.replace('"vocab_size": 64', '"vocab_size": 0'), "cannot be 0"),
        (lambda text: text.replace('"vocab_size": 64', '"vocab_size": 1e3'), "vocab_size cannot"),
        (lambda text: text.replace('"vocab_size": 64', f'"vocab_size": {10**12}'), "vocab_size"),
        (lambda text: text.replace('"vocab_size": 64,', ""), "it lacks vocab_size"),
        (lambda text: text.replace('"replicas": 1', '"replicas": -1'), "replicas cannot be -1"),
        (lambda text: text.replace('"model"', '"modle"'), "unknown entries: 'modle'"),
        (lambda text: text.replace('"num_heads": 4', '"num_heads": 2'), "its checksum differs"),
        (lambda text: text.replace("abc", "abd"), "its checksum differs"),
    ],
)
def test_damage_of_every_kind(tmp_path, change, message):
    record().save(tmp_path)
    path = tmp_path / "hparams.json"
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))
    with pytest.raises(UserError, match=rf"hparams.json is damaged: .*{message}"):
        RunRecord.load(tmp_path)


def test_files_without_a_checksum_are_read_in_any_order_and_spacing(tmp_path):
    record().save(tmp_path)
    path = tmp_path / "hparams.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(values.items()))))
    assert RunRecord.load(tmp_path) == record()
    del values["checksum"], values["replicas"], values["target_vocab_size"]
    values["random_seed"] = 2**32 - 1
    path.write_text(json.dumps(values))
    assert RunRecord.load(tmp_path) == record(random_seed=2**32 - 1)


def test_an_unknown_model_and_unknown_hparams_are_said_with_the_file():
    with pytest.raises(UserError, match=r"run/hparams.json: model 'transformr' is unknown"):
        record().check_same(record(model="transformr"), "run")
    with pytest.raises(UserError, match=r"run/hparams.json: .*nonsense: unknown"):
        record().check_same(record(hparams={"nonsense": 1}), "run")


def test_a_model_of_a_plug_in_names_its_folder():
    record = small_record(model="my_transformer", hparams_set="mine", t2t_usr_dir="/home/me/models")
    with pytest.raises(UserError, match=r"trained with --t2t_usr_dir=/home/me/models, which"):
        record.resolved()
    moved = dataclasses.replace(record, t2t_usr_dir="/elsewhere")
    assert record.differences(moved) == []
