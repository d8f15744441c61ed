"""The metrics of a comparison and their options."""

from __future__ import annotations

import dataclasses

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.scores import METRICS, make_metric
from t2t_phrase.evaluation.significance import resampling_seed


@dataclasses.dataclass(frozen=True)
class Scoring:
    """Metrics and their options.

    Attributes:
        metrics: names, see `METRICS`; the first is the main one, whose spread is shown.
        tokenize, lowercase: see `corpus_score`.
    """

    metrics: tuple[str, ...] = ("bleu",)
    tokenize: str = "13a"
    lowercase: bool = False

    def check(self) -> None:
        """Check that all scores can be computed.

        Raises:
            UserError: a metric is unknown or given twice, there is none, or as for `make_metric`
                and `resampling_seed`.
        """
        resampling_seed()
        if not self.metrics:
            raise UserError(f"--metrics= names no metric; known: {', '.join(METRICS)}")
        for metric in self.metrics:
            make_metric(metric, tokenize=self.tokenize, lowercase=self.lowercase)
            if self.metrics.count(metric) > 1:
                raise UserError(f"--metrics={','.join(self.metrics)}: {metric} is given twice")
