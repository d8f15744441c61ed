"""--hparams_file: changes to a set of hyperparameters, in JSON or YAML."""

from __future__ import annotations

import pathlib
from typing import Any

from t2t_phrase.config import UserError, parse_assignments
from t2t_phrase.io.files import expanded
from t2t_phrase.io.strict_json import parse_json


def merged(path: str, text: str) -> str:
    """Return the `--hparams` of a file and a text together; the text has precedence.

    Args:
        path: a file with an object that has a value for each name; empty: no file.
        text: assignments in T2T's syntax, `a=1,b=[1,2]`.

    Raises:
        UserError: the file cannot be read, or does not hold such an object.
    """
    if not path:
        return text
    given = {name: _spelled(value) for name, value in _read(expanded(path)).items()}
    given.update(parse_assignments(text))
    return ",".join(f"{name}={value}" for name, value in given.items())


def _read(path: pathlib.Path) -> dict[str, Any]:
    origin = f"--hparams_file={path}"
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{origin}: {error}") from error
    parse = _parse_yaml if path.suffix in (".yaml", ".yml") else parse_json
    values = parse(content, origin)
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise UserError(f"{origin}: expected names with values, such as batch_size: 1024")
    return values


def _parse_yaml(content: str, name: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise UserError("YAML needs PyYAML: pip install 't2t_phrase[yaml]', or use JSON") from error
    try:
        return yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{name}: {' '.join(str(error).split())}") from error


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(_spelled, value))}]"
    return str(value)
