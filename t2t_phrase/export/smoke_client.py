"""Asks an exported model for a translation: a smoke test, and an example of a client.

The client does not need this library, so the file can be copied anywhere:

```
echo "A house ." | python smoke_client.py --export_dir=runs/ende/export
echo "A house ." | python smoke_client.py --url=http://localhost:8501/v1/models/ende
```

Each feature that a model reads in addition to the text is given by --feature=NAME=FILE, a file with
one line for each sentence, such as the same sentences with tabs between their phrases.

The first command loads the newest version in this process, with tensorflow and tensorflow_text; the
second calls TensorFlow Serving's REST interface, with the standard library alone.
"""

from __future__ import annotations

import argparse
import http.client
import json
import pathlib
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence

Features = Mapping[str, Sequence[str]]
Translations = list[tuple[str, float]]
# Seconds to wait for the answer of a server.
_TIMEOUT = 60.0


def translate_local(
    export_dir: str, lines: Sequence[str], features: Features | None = None
) -> Translations:
    """Return (translation, score) of each line from the newest version in a folder."""
    import tensorflow as tf
    import tensorflow_text  # noqa: F401 - registers the operations of SentencePiece

    versions = [path for path in pathlib.Path(export_dir).glob("*") if path.name.isdecimal()]
    if not versions:
        raise SystemExit(f"{export_dir} holds no exported version")
    newest = max(versions, key=lambda path: int(path.name))
    function = tf.saved_model.load(str(newest)).signatures["serving_default"]
    inputs = {"text": lines, **(features or {})}
    expected = function.structured_input_signature[1].keys()
    if inputs.keys() != expected:
        raise SystemExit(
            f"{newest} reads {', '.join(sorted(expected))}; got {', '.join(sorted(inputs))}: see "
            "--feature"
        )
    given = {name: tf.constant(values, tf.string) for name, values in inputs.items()}
    try:
        found = function(**given)
    except tf.errors.InvalidArgumentError as error:
        # The graph checks that features fit their sentences.
        failed = re.search(r"assertion failed: \[([^]]*)\]", str(error))
        if failed is None:
            raise
        raise SystemExit(f"{newest}: {failed[1]}") from error
    texts = [text.decode() for text in found["translation"].numpy()]
    _tell_cut(found["cut"].numpy().tolist())
    return list(zip(texts, found["score"].numpy().tolist(), strict=True))


def translate_remote(
    url: str, lines: Sequence[str], features: Features | None = None
) -> Translations:
    """Return (translation, score) of each line from a server.

    Args:
        url: URL of the model, such as `http://localhost:8501/v1/models/ende`.
        lines: sentences.
        features: features by name, one string for each sentence, for a model that reads features.
    """
    inputs = {"text": lines, **(features or {})}
    instances = [
        dict(zip(inputs, values, strict=True)) for values in zip(*inputs.values(), strict=True)
    ]
    body = {"signature_name": "serving_default", "instances": instances}
    try:
        request = urllib.request.Request(
            f"{url}:predict",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            predictions = json.load(response)["predictions"]
        _tell_cut([found["cut"] for found in predictions])
        return [(found["translation"], found["score"]) for found in predictions]
    except urllib.error.HTTPError as error:
        detail = error.read().decode(errors="replace")
        raise SystemExit(f"{url} answered {error.code}: {detail}") from error
    except urllib.error.URLError as error:
        raise SystemExit(f"{url} cannot be reached: {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise SystemExit(f"{url} did not answer: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{url} is not a model of TensorFlow Serving: {error!r}") from error


def _tell_cut(cut: Sequence[bool]) -> None:
    for number in (i for i, was_cut in enumerate(cut, start=1) if was_cut):
        print(f"line {number}: longer than the model's limit, so it was cut", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Translate standard input, one sentence per line, to `score<TAB>translation`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--export_dir", help="folder of exported versions")
    where.add_argument("--url", help="a model of TensorFlow Serving")
    parser.add_argument(
        "--feature", action="append", default=[], help="NAME=FILE: a feature of the sentences"
    )
    options = parser.parse_args(arguments)
    lines = [line.rstrip("\r\n") for line in sys.stdin]
    features = {}
    for name, _, file in (option.partition("=") for option in options.feature):
        try:
            text = pathlib.Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise SystemExit(f"--feature={name}={file}: {error}") from error
        features[name] = text.removesuffix("\n").split("\n") if text else []
        if len(features[name]) != len(lines):
            raise SystemExit(
                f"--feature={name}={file} has {len(features[name])} lines, and standard input "
                f"{len(lines)}; each sentence needs one"
            )
    if options.export_dir:
        found = translate_local(options.export_dir, lines, features)
    else:
        found = translate_remote(options.url, lines, features)
    for text, score in found:
        print(f"{score:.4f}\t{text}")


if __name__ == "__main__":
    main()
