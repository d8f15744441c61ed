"""--hparams_file: changes to a set of hyperparameters, in JSON or YAML."""

from __future__ import annotations

import pathlib
from typing import Any

from t2t_phrase.config import UserError, parse_assignments, shown
from t2t_phrase.io.files import expanded
from t2t_phrase.io.strict_json import parse_json


def merged(path: str, text: str) -> str:
    """Return the `--hparams` of a file and a text together; the text has precedence.

    Args:
        path: a file with an object that has a value for each name; empty: no file.
        text: assignments in T2T's syntax, `a=1,b=[1,2]`.

    Raises:
        UserError: the file cannot be read, does not hold such an object, or gives a name twice.
    """
    if not path:
        return text
    place = expanded(path)
    given = {}
    for name, value in _read(place).items():
        if _has_object(value):
            raise UserError(
                f"--hparams_file={place}: {name} is an object; give one value or a list, such as "
                "optimizer_options: [use_ema=true]"
            )
        given[name] = _spelled(value)
    given.update(parse_assignments(text))
    return ",".join(f"{name}={value}" for name, value in given.items())


def _read(path: pathlib.Path) -> dict[str, Any]:
    origin = f"--hparams_file={path}"
    try:
        content = path.read_text(encoding="utf-8-sig")  # Editors may begin it with a mark.
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
        node = yaml.compose(content, Loader=yaml.SafeLoader)
        if isinstance(node, yaml.MappingNode):
            # PyYAML would take the last one.
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for key in keys:
                if keys.count(key) > 1:
                    raise UserError(f"{name} gives {shown(key)} twice")
        return yaml.safe_load(content)
    except UserError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{name}: {' '.join(str(error).split())}") from error


def _has_object(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_has_object, value)))


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(_spelled, value))}]"
    return str(value)
