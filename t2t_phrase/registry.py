"""Registries of everything that users choose by name and may extend in their own packages."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from t2t_phrase import tensor2tensor_options
from t2t_phrase.config import UserError, nearest, shown
from t2t_phrase.io.files import expanded

_USER_PREFIX = "t2t_usr_dir_"
# The most names listed in a message; if there are more, it gives the command that lists them.
_LISTED = 10
T = TypeVar("T")
V = TypeVar("V", bound=Callable[..., Any])


class UnknownNameError(UserError, KeyError):
    """A name that is not registered; the message suggests the nearest names."""

    def __str__(self) -> str:
        return str(self.args[0])


class DuplicateNameError(UserError, KeyError):
    """A name that two files register."""

    def __str__(self) -> str:
        return str(self.args[0])


class Registry(Generic[T]):
    """Maps names to classes or functions.

    Args:
        kind: noun for an entry in messages, such as "problem".
        own_names: whether each entry must have the snake-case name of its class or function.
        instead: what to use instead of names that users may know from elsewhere, for messages.
    """

    def __init__(
        self, kind: str, *, own_names: bool = False, instead: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self._instead = instead or {}
        self._own_names = own_names
        self._entries: dict[str, T] = {}

    def register(self, entry: V) -> V:
        """Register under the snake-case name of the class or function; usable as a decorator.

        Raises:
            UserError: the entry is an object, such as a set instead of the function that makes it,
                or another class or function has registered the name already.

        Example:
            ```python
            from t2t_phrase import registry

            registry.discover()

            @registry.hparams.register
            def transformer_four_layers():
                return registry.hparams["transformer_base"]().replace(num_hidden_layers=4)

            layers = registry.hparams["transformer_four_layers"]().num_hidden_layers  # 4
            ```
        """
        return self._add(_own_name(entry), entry)

    def register_as(self, name: str) -> Callable[[V], V]:
        """Return a decorator that registers a class or function under a given name.

        Args:
            name: the name as users write it.

        Raises:
            UserError: as for `register`, or entries must have their own names (when the decorator
                is called).
        """
        return lambda entry: self._add(name, entry)

    def _add(self, name: str, entry: V) -> V:
        if not callable(entry):
            raise UserError(
                f"{self.kind} {name}: an object of {type(entry).__name__} is registered; register "
                "a function that returns it, or its class"
            )
        if self._own_names and name != _own_name(entry):
            raise UserError(
                f"{self.kind} {name}: its files and runs would be called {_own_name(entry)}, after "
                "its class; rename the class, and register it with `register`"
            )
        known = self._entries.get(name)
        if known is not None and (places := _two_places(known, entry)):
            raise DuplicateNameError(
                f"{self.kind} {name} is registered twice: {places}; give one of them another name"
            )
        self._entries[name] = entry  # type: ignore[assignment]
        return entry

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            hint = nearest(name, self._entries, instead=self._instead.get(name)) or self._known()
            raise UnknownNameError(f"{self.kind} {shown(name)} is unknown{hint}") from None

    def _known(self) -> str:
        if len(self) > _LISTED:
            return f"; `t2t-phrase-trainer --registry_help` lists the {len(self)} known ones"
        return f"; known: {', '.join(self) or 'none'}"

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


# The package of the annotation types that come with the library.
ANNOTATIONS = "t2t_phrase.text.annotations"

# The files of a problem, and the records of its runs, have the name of its class.
problems: Registry[Any] = Registry("problem", own_names=True)
models: Registry[Any] = Registry("model")
hparams: Registry[Callable[[], Any]] = Registry(
    "hparams set", instead=tensor2tensor_options.HPARAMS_SETS
)
attentions: Registry[Any] = Registry("attention")
searches: Registry[Any] = Registry("search")
annotation_types: Registry[Callable[[], Any]] = Registry("annotation type")
optimizers: Registry[Any] = Registry("optimizer")
schedule_factors: Registry[Callable[..., Any]] = Registry("schedule factor")


def snake_case(name: str) -> str:
    """Convert `TranslateEndeWmt16` to `translate_ende_wmt16`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def discover(user_dir: str = "") -> None:
    """Import every problem, hparams set and model, and then the user's own folder.

    Args:
        user_dir: T2T's `--t2t_usr_dir`, a folder with an `__init__.py` that registers things.

    Raises:
        UserError: `user_dir` is not a Python package, or importing it fails.
    """
    for package in (
        "t2t_phrase.models",
        ANNOTATIONS,
        "t2t_phrase.problems",
        "t2t_phrase.hparams",
    ):
        import_modules(package)
    if user_dir:
        _import_folder(expanded(user_dir).resolve())


def import_modules(package: str) -> None:
    """Import every module of a package, and thereby register their entries."""
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{found.name}")


def user_folders() -> list[str]:
    """Return the user folders that `discover` has imported, for other processes to import."""
    return [
        str(pathlib.Path(str(module.__file__)).parent)
        for name, module in sys.modules.items()
        if name.startswith(_USER_PREFIX) and "." not in name
    ]


def _import_folder(folder: pathlib.Path) -> None:
    init = folder / "__init__.py"
    if not init.is_file():
        raise UserError(
            f"--t2t_usr_dir={folder}: no __init__.py there; it must be a Python package that "
            "imports the modules with your registrations"
        )
    # A prefixed name: a folder named like an installed package must not shadow the package.
    name = _USER_PREFIX + re.sub(r"\W", "_", folder.name)
    spec = importlib.util.spec_from_file_location(
        name, init, submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _forget_modules_of_another(name, init)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        # A second attempt must not find the module half imported.
        del sys.modules[name]
        # The text of a SyntaxError already names the line.
        place = "" if isinstance(error, SyntaxError) else place_in(folder, error)
        kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
        missing = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
        hint = ""
        if missing.partition(".")[0] == folder.name:
            hint = "; modules of this folder are imported with `from . import ...`"
        reason = f"{place and f'{place}: '}{kind}{error}{hint}"
        raise UserError(f"--t2t_usr_dir={folder} cannot be imported: {reason}") from error


def _forget_modules_of_another(name: str, init: pathlib.Path) -> None:
    """Make `from . import x` import the modules of a folder, not those of its namesake.

    Args:
        name: of the package that the folder becomes.
        init: its `__init__.py`.
    """
    if name in sys.modules and sys.modules[name].__file__ != str(init):
        for module in [module for module in sys.modules if module.startswith(f"{name}.")]:
            del sys.modules[module]


def place_in(folder: str | pathlib.Path, error: BaseException) -> str:
    """Return the last place in a folder that an error passed through, as "file:line"; "": none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if pathlib.Path(f.filename).is_relative_to(folder)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


def _own_name(entry: Any) -> str:
    return snake_case(getattr(entry, "__name__", type(entry).__name__))


def _two_places(known: Any, entry: Any) -> str:
    """Return the places of two definitions, or "" if one may be a new version of the other.

    A file may be imported again. Outside of files, as in a notebook, anything may be redefined.
    """
    files = _file_of(known), _file_of(entry)
    if files[0] != files[1]:
        return f"in {files[0]} and in {files[1]}"
    names = [getattr(each, "__qualname__", "") for each in (known, entry)]
    in_file = hasattr(sys.modules.get(entry.__module__), "__file__")
    return f"as {names[0]} and {names[1]} in {files[0]}" if in_file and names[0] != names[1] else ""


def _file_of(entry: Any) -> str:
    module = sys.modules.get(entry.__module__)
    return str(getattr(module, "__file__", entry.__module__))
