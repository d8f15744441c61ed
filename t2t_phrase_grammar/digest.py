"""A checksum of the grammar."""

import hashlib
import pathlib


def digest() -> str:
    """Return the SHA-256 of the code and the tables, in hexadecimal."""
    found = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.rglob("*.[pt][ys]*")):
        if path.suffix in (".py", ".tsv"):
            found.update(path.read_bytes())
    return found.hexdigest()
