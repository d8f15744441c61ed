import pathlib
import subprocess
import sys
import types

import pytest

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.registry import Registry, UnknownNameError, snake_case


def entry_of(module_name: str, file: str, name: str) -> type:
    module = types.ModuleType(module_name)
    module.__file__ = file
    sys.modules[module_name] = module
    return type(name, (), {"__module__": module_name})


@pytest.fixture
def fruits() -> Registry:
    fruits: Registry = Registry("fruit")

    @fruits.register
    class RedApple:
        pass

    @fruits.register
    def pear() -> int:
        return 3

    fruits.red_apple_class = RedApple  # type: ignore[attr-defined]
    return fruits


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ("TranslateEndeWmt16", "translate_ende_wmt16"),
        ("Transformer", "transformer"),
        ("transformer_base", "transformer_base"),
        ("TranslateEnde2Multi30k", "translate_ende2_multi30k"),
    ],
)
def test_snake_case(camel: str, snake: str) -> None:
    assert snake_case(camel) == snake


def test_look_up_and_listing(fruits: Registry) -> None:
    assert fruits["red_apple"] is fruits.red_apple_class  # type: ignore[attr-defined]
    assert fruits["pear"]() == 3
    assert list(fruits) == ["pear", "red_apple"]
    assert len(fruits) == 2
    assert "pear" in fruits
    assert "plum" not in fruits


def test_an_unknown_name_gets_the_nearest_or_the_whole_list(fruits: Registry) -> None:
    with pytest.raises(UnknownNameError) as error:
        fruits["red_aple"]
    assert str(error.value) == "fruit 'red_aple' is unknown; did you mean red_apple?"
    assert isinstance(error.value, UserError)
    assert isinstance(error.value, KeyError)
    with pytest.raises(UnknownNameError, match="fruit 'xyz' is unknown; known: pear, red_apple"):
        fruits["xyz"]
    with pytest.raises(UnknownNameError, match="known: none"):
        Registry("fruit")["xyz"]


def test_a_name_from_two_files_is_an_error_that_names_both() -> None:
    fruits: Registry = Registry("fruit")
    fruits.register(entry_of("registry_test_a", "a.py", "Plum"))
    # The same file imported under two names is harmless.
    fruits.register(entry_of("registry_test_again", "a.py", "Plum"))
    expected = r"fruit plum is registered twice: in a\.py and in b\.py; give one .* another name"
    with pytest.raises(KeyError, match=expected):
        fruits.register(entry_of("registry_test_b", "b.py", "Plum"))


def test_two_definitions_in_one_file_cannot_share_a_name() -> None:
    fruits: Registry = Registry("fruit")
    fruits.register_as("plum")(entry_of("registry_test_a", "a.py", "Mirabelle"))
    # The file may be imported again.
    fruits.register_as("plum")(entry_of("registry_test_again", "a.py", "Mirabelle"))
    with pytest.raises(
        KeyError, match=r"twice: as Mirabelle and Damson in a\.py; give one of them"
    ):
        fruits.register_as("plum")(entry_of("registry_test_a", "a.py", "Damson"))


def test_what_a_notebook_registers_may_be_replaced() -> None:
    fruits: Registry = Registry("fruit")
    for name in ("Mirabelle", "Damson"):
        entry = entry_of("registry_test_notebook", "", name)
        del sys.modules["registry_test_notebook"].__file__
        fruits.register_as("plum")(entry)
    assert fruits["plum"].__name__ == "Damson"


def test_a_problem_has_the_name_of_its_class() -> None:
    # Otherwise its runs would name a problem that is not registered.
    def mirabelle() -> None:
        pass

    fruits: Registry = Registry("fruit", own_names=True)
    fruits.register_as("mirabelle")(mirabelle)
    with pytest.raises(UserError, match="fruit plum: its files and runs would be called mirabelle"):
        fruits.register_as("plum")(mirabelle)
    with pytest.raises(UserError, match="problem plum_rev: its files and runs would be called"):
        registry.problems.register_as("plum_rev")(mirabelle)
    assert list(fruits) == ["mirabelle"]


def test_an_object_in_place_of_a_function_is_refused(fruits: Registry) -> None:
    class Plum:
        pass

    expected = r"fruit plum: an object of Plum is registered; register a function that returns it"
    with pytest.raises(UserError, match=expected):
        fruits.register(Plum())  # type: ignore[type-var]
    with pytest.raises(UserError, match=expected):
        fruits.register_as("plum")(Plum())  # type: ignore[type-var]
    assert "plum" not in fruits


def test_discover_finds_models_and_hparams() -> None:
    registry.discover()
    assert "transformer" in registry.models
    assert "transformer_base" in registry.hparams


def test_discover_imports_a_users_folder(tmp_path: pathlib.Path) -> None:
    # Named like an installed package on purpose.
    folder = tmp_path / "json"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import mine\n")
    (folder / "mine.py").write_text(
        "from t2t_phrase import registry\n"
        "@registry.problems.register\n"
        "class RegistryTestProblem:\n"
        "    pass\n"
    )
    try:
        registry.discover(str(folder))
        assert registry.problems["registry_test_problem"].__module__ == "t2t_usr_dir_json.mine"
    finally:
        registry.problems._entries.pop("registry_test_problem", None)
    import json

    assert json.loads("1") == 1


def test_a_folder_does_not_get_the_modules_of_its_namesake(tmp_path: pathlib.Path) -> None:
    try:
        for number in (1, 2):
            folder = tmp_path / str(number) / "registry_twins"
            folder.mkdir(parents=True)
            (folder / "__init__.py").write_text("from . import mine\n")
            (folder / "mine.py").write_text(
                "from t2t_phrase import registry\n"
                "@registry.hparams.register\n"
                "def registry_test_set():\n"
                f"    return {number}\n"
            )
            registry.discover(str(folder))
            assert registry.hparams["registry_test_set"]() == number
        assert str(folder) in registry.user_folders()
    finally:
        registry.hparams._entries.pop("registry_test_set", None)
        for name in [name for name in sys.modules if "registry_twins" in name]:
            del sys.modules[name]


def test_a_users_folder_must_be_a_package(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match=r"--t2t_usr_dir=.*no __init__\.py there"):
        registry.discover(str(tmp_path))


def test_registry_and_config_import_nothing_heavy() -> None:
    code = (
        "import sys; import t2t_phrase.registry, t2t_phrase.training_hparams; "
        "print(sorted({'keras', 'numpy', 'tensorflow', 'absl'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("from . import other\n", r"other.py:2: NameError: name 'b' is not defined"),
        ("def f(\n", r"SyntaxError: '\(' was never closed \(__init__.py, line 1\)"),
        ("raise SystemExit\n", r"__init__.py:1: SystemExit"),
        (
            "from t2t_phrase.training_hparams import TrainingHParams\n"
            "TrainingHParams().replace(learning_rat=1)\n",
            r"__init__.py:2: TrainingHParams: learning_rat: unknown",
        ),
    ],
)
def test_a_folder_that_cannot_be_imported_is_named_with_the_place(tmp_path, content, expected):
    folder = tmp_path / "my.problems"
    folder.mkdir()
    (folder / "__init__.py").write_text(content)
    (folder / "other.py").write_text("a = 1\nb\n")
    with pytest.raises(UserError, match=rf"--t2t_usr_dir=.*my\.problems cannot.*{expected}"):
        registry.discover(str(folder))
    (folder / "__init__.py").write_text("")
    registry.discover(str(folder))
    del sys.modules["t2t_usr_dir_my_problems"]


def test_a_folder_that_imports_itself_by_name_is_told_how(tmp_path):
    folder = tmp_path / "my_own_models"
    folder.mkdir()
    (folder / "__init__.py").write_text("import my_own_models.other\n")
    with pytest.raises(UserError, match=r"named 'my_own_models'; modules of .* `from \. import"):
        registry.discover(str(folder))


def test_long_lists_of_names_are_not_printed():
    many = registry.Registry("thing")
    for number in range(11):
        many.register(type(f"Name{number}", (), {}))
    with pytest.raises(
        registry.UnknownNameError, match="`t2t-phrase-trainer --registry_help` lists"
    ):
        many["x"]
