import numpy as np
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints

ARRAYS = {"layer.0/kernel": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2)}
DATA, INDEX = ".data-00000-of-00001", ".index"


def content(path):
    """Everything that a training reads."""
    read = {**checkpoints.read_tensors(path), **checkpoints.read_tensors(path, "optimizer")}
    values = {name: value.tobytes() for name, value in read.items()}
    return values, checkpoints.read_step(path), checkpoints.read_state(path)


@pytest.fixture
def path(tmp_path):
    """The later of two checkpoints."""
    for step in (5, 10):
        checkpoints.write(
            tmp_path / f"model.ckpt-{step}",
            model=ARRAYS,
            optimizer={"b/momentum": np.ones(3)},
            step=step,
            state={"position": [1, step]},
        )
    return tmp_path / "model.ckpt-10"


def damage(path, ending, change):
    file = path.with_name(path.name + ending)
    whole = file.read_bytes()
    file.write_bytes(change(whole))
    return whole


def flipped(whole, place, bit=0):
    return whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]


@pytest.mark.parametrize("ending", [DATA, INDEX])
def test_a_flipped_byte_is_never_read(path, ending):
    good = content(path)
    file = path.with_name(path.name + ending)
    whole = file.read_bytes()
    silent = []
    for place in range(0, len(whole), 13):
        file.write_bytes(flipped(whole, place, place % 8))
        try:
            assert content(path) == good
            silent.append(place)
        except UserError as error:
            assert f"{path}{ending}" in str(error) and "model.ckpt-5: give that" in str(error)
            assert "ensor" not in str(error) and "Data loss" not in str(error)
    # Before the last eight bytes of the index there are only zeros, which mean nothing.
    assert silent == [] if ending == DATA else all(p > len(whole) - 90 for p in silent)


@pytest.mark.parametrize("ending", [DATA, INDEX])
@pytest.mark.parametrize("kept", [0, 1, 40, -1])
def test_what_was_cut_off_is_missed(path, ending, kept):
    damage(path, ending, lambda whole: whole[:kept])
    with pytest.raises(UserError) as caught:
        content(path)
    assert str(caught.value) == (
        f"checkpoint {path} cannot be read: {path}{ending} is damaged; the "
        f"newest intact one is {path.parent}/model.ckpt-5: give that with --checkpoint_path, or "
        f"delete {path}.* to resume the training from it"
    )


def test_a_damaged_one_is_not_recommended(path):
    damage(path, DATA, lambda whole: b"")
    damage(path.with_name("model.ckpt-5"), INDEX, lambda whole: flipped(whole, 20))
    with pytest.raises(UserError, match="no intact checkpoint exists beside it: restore the file"):
        content(path)


def test_the_best_one_is_better_than_none(path):
    (path.parent / "best").mkdir()
    for file in checkpoints.files_of(path.with_name("model.ckpt-5")):
        file.rename(path.parent / "best" / file.name)
    damage(path, DATA, lambda whole: b"")
    with pytest.raises(UserError, match=r"/best/model.ckpt-5 is intact: give that with --check"):
        content(path)


@pytest.mark.parametrize("state", [b"", b"\xff\xfe", b'model_checkpoint_path: "', b"\n" * 9])
def test_a_damaged_index_of_checkpoints_is_said_and_replaced_by_the_last(path, caplog, state):
    (path.parent / "checkpoint").write_bytes(state)
    assert checkpoints.latest(path.parent) == str(path)
    assert caplog.messages == [f"{path.parent}/checkpoint is damaged: using {path}"]


def test_an_index_of_checkpoints_that_names_another(path, caplog):
    checkpoints.set_latest(path.parent, ["model.ckpt-15"])
    assert checkpoints.latest(path.parent) == str(path)
    assert "checkpoint names model.ckpt-15, which is not there: using " in caplog.messages[0]


def test_the_advice_works(path):
    checkpoints.set_latest(path.parent, ["model.ckpt-5", "model.ckpt-10"])
    checkpoints.delete(str(path))
    assert checkpoints.latest(path.parent) == str(path.with_name("model.ckpt-5"))


def test_the_data_of_another_checkpoint(path):
    other = path.with_name("model.ckpt-5" + DATA).read_bytes()
    damage(path, DATA, lambda whole: other)
    with pytest.raises(UserError, match="is damaged"):
        content(path)


@pytest.mark.parametrize("name", ["a[b]c", "a*b?", "a\\b", " ü漢 ", "-x", "{a,b}", "a'\"b"])
def test_paths_are_no_patterns(tmp_path, name):
    folder = tmp_path / name
    (tmp_path / "aXb").mkdir()
    checkpoints.write(folder / "model.ckpt-5", model=ARRAYS, step=5)
    checkpoints.set_latest(folder, ["model.ckpt-5"])
    found = checkpoints.resolve(folder)
    assert found == str(folder / "model.ckpt-5")
    assert checkpoints.read_step(found) == 5
    np.testing.assert_array_equal(checkpoints.read_tensors(found)["b"], ARRAYS["b"])
    checkpoints.delete(found)
    assert checkpoints.complete(folder) == []


def test_a_pattern_finds_no_other_file(tmp_path):
    checkpoints.write(tmp_path / "ab" / "model.ckpt-5", model=ARRAYS, step=5)
    (tmp_path / "a*").mkdir()
    assert checkpoints.latest(tmp_path / "a*") is None
    with pytest.raises(UserError, match="does not exist"):
        checkpoints.resolve(tmp_path / "a*" / "model.ckpt-5")
