"""The note that 8-bit integers gain nothing on a CPU."""

from __future__ import annotations

import os
import pathlib

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.io.reporting import note

# Linux's names of the instructions.
_VNNI_OR_AMX = {"avx512_vnni", "avx_vnni", "amx_int8"}


def note_slow_integers(hparams: DecodeHParams) -> None:
    """Print a note if `quantize=int8` is asked for where float32 is faster."""
    if hparams.quantize and multiplies_integers() is False:
        note(
            "quantize=int8: this CPU has no instructions for products of 8-bit integers (VNNI), so "
            "float32 is faster"
        )


def multiplies_integers(information: str | os.PathLike[str] = "/proc/cpuinfo") -> bool | None:
    """Return whether an x86 CPU has instructions for products of 8-bit integers.

    Args:
        information: the file in which Linux lists the instructions of the CPU.

    Returns:
        None if that is unknown, as on other systems and CPUs.
    """
    try:
        text = pathlib.Path(information).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), None)
    return None if flags is None else not _VNNI_OR_AMX.isdisjoint(flags)
