"""Translates a corpus of many files on many machines, by Ray Data.

    split --lines=100000 --numeric-suffixes --suffix-length=4 corpus.en parts/
    python docs/examples/ray_translate.py --output_dir=runs/ende --workers=8 \
        --sources=parts --targets=translated
    cat translated/* > corpus.de

Each worker has the model, translates one file at a time, and writes its translation complete or not
at all. A file whose translation is there is left out, so the same command continues where it was
interrupted. If a worker dies, Ray starts another, which begins the file again; a translation does
not depend on the worker.
"""

from __future__ import annotations

import argparse
import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any

import ray

import t2t_phrase
from t2t_phrase.io.text_files import read_text


class TranslateFile:
    """Translates the file of a row; Ray makes one for each worker.

    Args:
        model: `t2t_phrase.load(...)` or a `t2t_phrase.ExportedTranslator`; a worker loads it when
            it is used first.
        options: more arguments of `model.translate`.
    """

    def __init__(self, model: Any, options: dict[str, Any]) -> None:
        self.translate = functools.partial(model.translate, **options)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Translate a file, and return the number of its lines."""
        source, target = pathlib.Path(row["source"]), pathlib.Path(row["target"])
        lines = read_text(str(source))
        # All lines at once: they are sorted by length.
        translations = self.translate(lines)
        unfinished = target.with_name(f".{target.name}.{os.getpid()}")
        unfinished.write_text("".join(f"{line}\n" for line in translations), encoding="utf-8")
        unfinished.replace(target)
        return {"target": str(target), "lines": len(lines)}


def translate(
    model: Any,
    sources: str,
    targets: str,
    *,
    workers: int,
    options: dict[str, Any] | None = None,
    function: Callable[..., Any] = TranslateFile,
) -> int:
    """Translate all files of a folder that are not translated yet; return how many lines.

    Args:
        model: see `TranslateFile`.
        sources: the folder; files are divided into lines as by t2t-phrase-decoder.
        targets: the folder of the translations, which have the same names.
        workers: how many files are translated at the same time.
        options: see `TranslateFile`.
        function: the class of the workers.
    """
    folder = pathlib.Path(targets)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"source": str(path.resolve()), "target": str((folder / path.name).resolve())}
        for path in sorted(pathlib.Path(sources).iterdir())
        if not (folder / path.name).exists()
    ]
    if not rows:
        return 0
    done = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
        function,
        fn_constructor_args=[model, options or {}],
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
        # Workers on one machine share its cores.
        runtime_env={"env_vars": {"TF_NUM_INTRAOP_THREADS": "1"}},
    )
    return sum(row["lines"] for row in done.iter_rows())


def main() -> None:
    """Translate what the flags say."""
    parser = argparse.ArgumentParser(description=__doc__)
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--output_dir", help="a run")
    model.add_argument("--export_dir", help="a folder of exported versions")
    parser.add_argument("--t2t_usr_dir", default="")
    parser.add_argument("--decode_hparams", default="", help="with --output_dir")
    parser.add_argument("--sources", required=True)
    parser.add_argument("--targets", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--address", help="of a Ray cluster; default: this machine alone")
    flags = parser.parse_args()
    loaded: Any
    if flags.export_dir and (flags.t2t_usr_dir or flags.decode_hparams):
        parser.error("--t2t_usr_dir and --decode_hparams are only used with --output_dir")
    if flags.export_dir:
        loaded, options = t2t_phrase.ExportedTranslator(flags.export_dir), {}
    else:
        loaded = t2t_phrase.load(flags.output_dir, t2t_usr_dir=flags.t2t_usr_dir)
        options = {"options": flags.decode_hparams}
    ray.init(address=flags.address or "local", include_dashboard=False)
    lines = translate(loaded, flags.sources, flags.targets, workers=flags.workers, options=options)
    print(f"{lines} lines translated to {flags.targets}", flush=True)


if __name__ == "__main__":
    main()
