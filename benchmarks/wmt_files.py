"""Synthetic archives of WMT 2014, English-French, in their real formats and of any size.

Sentences consist of chunks of some words, drawn from a pool; the other side has the chunks'
translations, word by word. Words are drawn by Zipf's law and spelled in syllables, with frequent
words short, so that vocabularies, lengths and bytes are like those of news.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pathlib
import tarfile
from collections.abc import Iterator
from typing import IO

import numpy as np

# The share of each corpus in the pairs of the task, and its location: the archive, its members.
CORPORA = {
    "europarl": (
        0.050,
        "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
        "training/europarl-v7.fr-en.{}",
    ),
    "commoncrawl": (
        0.080,
        "http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
        "commoncrawl.fr-en.{}",
    ),
    "un": (
        0.315,
        "http://www.statmt.org/wmt13/training-parallel-un.tgz",
        "un/undoc.2000.fr-en.{}",
    ),
    "newscommentary": (
        0.005,
        "http://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
        "training/news-commentary-v9.fr-en.{}",
    ),
    "giga": (
        0.550,
        "http://www.statmt.org/wmt10/training-giga-fren.tar",
        "giga-fren.release2.fixed.{}.gz",
    ),
}
DEV = "http://data.statmt.org/wmt19/translation-task/dev.tgz"
SIDES = ("en", "fr")
KNOWN = "url_infos.json"
# Chunks in the pool, words of a language, mean words in a chunk, most chunks in a sentence.
CHUNKS, WORDS, WORDS_OF_CHUNK, MOST_CHUNKS = 100_000, 150_000, 6, 14
BLOCK = 50_000
HELD_OUT = 500
SYLLABLES = {
    "en": [a + b for a in "btdghklmnprs" for b in ("a", "e", "i", "o", "u")],
    "fr": [a + b for a in ("b", "ch", "d", "f", "l", "m", "n", "p", "qu", "r", "s", "v") for b in
           ("a", "é", "i", "ou", "eau")],
}  # fmt: skip


class Pool:
    """Chunks of both languages as bytes: those that end in a blank, then those that end a line."""

    def __init__(self, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        # Zipf's law with Mandelbrot's constant, so that no word is too frequent.
        share = np.cumsum(1 / (np.arange(WORDS) + 5))
        ranks = np.searchsorted(share / share[-1], random.random(CHUNKS * WORDS_OF_CHUNK * 2))
        lengths = random.integers(1, 2 * WORDS_OF_CHUNK, CHUNKS)
        ends = np.cumsum(lengths)
        words = {side: [spelled(rank, SYLLABLES[side]) for rank in range(WORDS)] for side in SIDES}
        self.chunks: dict[str, list[bytes]] = {side: [] for side in SIDES}
        for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True):
            own = ranks[start:end].tolist()
            for side in SIDES:
                self.chunks[side].append(" ".join(words[side][rank] for rank in own).encode())
        for side, chunks in self.chunks.items():
            self.chunks[side] = [chunk + end for end in (b" ", b"\n") for chunk in chunks]

    def lines(self, count: int, seed: int) -> Iterator[dict[str, bytes]]:
        """Yield blocks of lines of both sides: about 25 words each on average."""
        random = np.random.default_rng(seed)
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            numbers = np.clip(random.gamma(2.0, 2.4, size), 1, MOST_CHUNKS).astype(int)
            drawn = random.integers(0, CHUNKS, int(numbers.sum()))
            drawn[np.cumsum(numbers) - 1] += CHUNKS
            chosen = drawn.tolist()
            yield {
                side: b"".join(map(chunks.__getitem__, chosen))
                for side, chunks in self.chunks.items()
            }


def spelled(rank: int, syllables: list[str]) -> str:
    """Return the word of a rank; frequent words are short."""
    word = syllables[rank % len(syllables)]
    while rank := rank // len(syllables):
        word += syllables[rank % len(syllables)]
    return word


def write_archives(folder: pathlib.Path, pairs: int) -> None:
    """Write all archives, and the list of their checksums by URL."""
    folder.mkdir(parents=True)
    pool = Pool()
    counts = {name: round(share * pairs) for name, (share, _, _) in CORPORA.items()}
    counts["giga"] += pairs - sum(counts.values())
    known = {}
    for seed, (name, (_, url, member)) in enumerate(CORPORA.items(), start=1):
        path = folder / url.rsplit("/", 1)[1]
        texts = {side: folder / f"{name}.{side}" for side in SIDES}
        packed = member.endswith(".gz")
        write_texts(texts, pool.lines(counts[name], seed), packed=packed)
        with tarfile.open(path, "w" if packed else "w:gz", **({} if packed else FAST)) as archive:
            for side, text in texts.items():
                archive.add(text, member.format(side))
                text.unlink()
        known[url] = path
    path = folder / "dev.tgz"
    write_dev(path, pool)
    known[DEV] = path
    infos = {
        url: {"size": path.stat().st_size, "checksum": sha256(path), "filename": path.name}
        for url, path in known.items()
    }
    (folder / KNOWN).write_text(json.dumps(infos))


FAST = {"compresslevel": 1}


def write_texts(
    paths: dict[str, pathlib.Path], blocks: Iterator[dict[str, bytes]], *, packed: bool
) -> None:
    """Write the lines of each side to a file, gzipped or not."""
    files: dict[str, IO[bytes]] = {
        side: gzip.open(path, "wb", **FAST) if packed else open(path, "wb")  # noqa: SIM115
        for side, path in paths.items()
    }
    for block in blocks:
        for side, content in block.items():
            files[side].write(content)
    for file in files.values():
        file.close()


def write_dev(path: pathlib.Path, pool: Pool) -> None:
    """Write the development set as text and the test set as SGML."""
    members: dict[str, bytes] = {}
    (dev,), (test,) = (list(pool.lines(HELD_OUT, seed)) for seed in (101, 102))
    for side in SIDES:
        members[f"dev/newstest2013.{side}"] = dev[side]
        kind, names = ("src", "srcset") if side == "fr" else ("ref", "refset")
        segments = "".join(
            f'<seg id="{number}">{line}</seg>\n'
            for number, line in enumerate(test[side].decode().splitlines(), start=1)
        )
        text = f'<{names}>\n<doc sysid="x">\n{segments}</doc>\n</{names}>\n'
        members[f"dev/newstest2014-fren-{kind}.{side}.sgm"] = text.encode()
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def sha256(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Modules that workers do not need are imported only where they are needed.
PACKAGE = '''"""The WMT 2014 problem on archives whose checksums are in a file."""

import json
import pathlib

from t2t_phrase import registry
from t2t_phrase.problems.wmt14 import TranslateEnfrWmt14


@registry.problems.register
class TranslateEnfrSynthetic(TranslateEnfrWmt14):
    """Archives that benchmarks/wmt_files.py wrote."""

    def _archives(self):
        from tensorflow_datasets.core.download.checksums import UrlInfo

        from t2t_phrase.data.sources import wmt_archives

        known = json.loads(pathlib.Path(KNOWN).read_text())
        infos = {url: UrlInfo(**info) for url, info in known.items()}
        wmt_archives.url_infos = lambda: infos
        return super()._archives()


'''


def write_package(folder: pathlib.Path, archives: pathlib.Path) -> None:
    """Write a package for `--t2t_usr_dir` with the problem `translate_enfr_synthetic`."""
    folder.mkdir(parents=True)
    known = f"KNOWN = {str(archives / KNOWN)!r}\n"
    (folder / "__init__.py").write_text(PACKAGE + known)
