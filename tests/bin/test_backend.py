import pytest

from t2t_phrase.bin.backend import EITHER, TENSORFLOW, check_backend
from t2t_phrase.config import UserError


@pytest.fixture
def environment(tmp_path):
    """Variables of a user whose keras.json lies in the folder of the test."""
    return {"KERAS_HOME": str(tmp_path)}


def test_those_that_a_command_can_use(environment):
    for name in ("", "tensorflow"):
        check_backend(TENSORFLOW, {**environment, "KERAS_BACKEND": name})
    check_backend(EITHER, {**environment, "KERAS_BACKEND": "jax"})


@pytest.mark.parametrize("name", ["jax", "torch", "nonsense", "Tensorflow", " tensorflow"])
def test_others_are_refused(environment, name):
    with pytest.raises(UserError, match=rf"KERAS_BACKEND is '{name}', but .* runs on tensorflow"):
        check_backend(TENSORFLOW, {**environment, "KERAS_BACKEND": name})


def test_the_file_decides_where_the_variable_does_not(environment, tmp_path):
    (tmp_path / "keras.json").write_text('{"backend": "torch"}')
    with pytest.raises(UserError, match=rf'"backend" in {tmp_path}/keras.json is .torch., but'):
        check_backend(EITHER, environment)
    check_backend(EITHER, {**environment, "KERAS_BACKEND": "tensorflow"})
    for damaged in ("{", "[]", "{}", '{"backend": null}'):
        (tmp_path / "keras.json").write_text(damaged)
        check_backend(EITHER, environment)


def test_one_that_is_not_installed(environment, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match="is 'jax', which is not installed; install it, or set"):
        check_backend(EITHER, {**environment, "KERAS_BACKEND": "jax"})
