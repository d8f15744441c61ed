"""WMT 2014: English to German and French; dev newstest2013, test newstest2014."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.data.sources.wmt_problem import WmtProblem


@registry.problems.register
class TranslateEndeWmt14(WmtProblem):
    """Europarl, Common Crawl and News Commentary 9; about 4.5 million pairs."""

    languages = ("en", "de")
    vocab_size = 32_000
    subsets = {  # noqa: RUF012
        "train": ("europarl_v7", "commoncrawl", "newscommentary_v9"),
        "dev": ("newstest2013",),
        "test": ("newstest2014",),
    }


@registry.problems.register
class TranslateEnfrWmt14(WmtProblem):
    """Europarl, Common Crawl, UN, News Commentary 9 and Giga; about 40 million pairs."""

    languages = ("en", "fr")
    vocab_size = 32_000
    subsets = {  # noqa: RUF012
        "train": ("europarl_v7", "commoncrawl", "multiun", "newscommentary_v9", "gigafren"),
        "dev": ("newstest2013",),
        "test": ("newstest2014",),
    }
