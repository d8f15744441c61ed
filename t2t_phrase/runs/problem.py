"""The problem that a run was trained on."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.data.problem import REVERSED, Problem, get_problem
from t2t_phrase.runs.record import RunRecord


def problem_of(record: RunRecord, name: str | None = None) -> Problem:
    """Return the problem of a run, in the direction of its training.

    Args:
        record: record of the run.
        name: of the problem, if the record has none.

    Raises:
        UserError: the problem is unknown, or only another --t2t_usr_dir registers it.
    """
    try:
        return get_problem(record.problem or str(name))
    except registry.UnknownNameError as error:
        folder = record.t2t_usr_dir
        if not (record.problem and folder) or folder in registry.user_folders():
            raise
        raise UserError(
            f"problem {record.problem.removesuffix(REVERSED)} is unknown; the run was trained with "
            f"--t2t_usr_dir={folder}, which registers it: give that flag"
        ) from error
