"""Many files that are open at once."""

from __future__ import annotations

from t2t_phrase.config import UserError

# Open files of the process apart from those of the shards.
_OTHER_FILES = 64


def allow_open_files(count: int) -> None:
    """Raise the process's limit of open files, if necessary, to open `count` more.

    Raises:
        UserError: the limit cannot be raised that far.
    """
    try:
        import resource
    except ImportError:  # Not on Windows.
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise UserError(
            f"{needed} files must be open at once, but the limit is {hard}: use a smaller "
            "--num_shards, or raise the limit (ulimit -n)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
