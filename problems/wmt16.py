"""WMT 2016: English to German and Russian as in the phrase attention paper, and to Romanian."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.data.sources.wmt_problem import WmtProblem


@registry.problems.register
class TranslateEndeWmt16(WmtProblem):
    """Europarl, Common Crawl and News Commentary 11; dev newstest2013, test newstest2014."""

    languages = ("en", "de")
    vocab_size = 37_000
    hparams_set = "transformer_base_paper"
    train_steps = 500_000
    subsets = {  # noqa: RUF012
        "train": ("europarl_v7", "commoncrawl", "newscommentary_v11"),
        "dev": ("newstest2013",),
        "test": ("newstest2014",),
    }


@registry.problems.register
class TranslateEnruWmt16(WmtProblem):
    """UN corpus, Common Crawl, News Commentary 11 and Wikipedia headlines.

    Most pairs are from the UN corpus, without which there are fewer than the paper's 25 million.
    The Yandex corpus is left out, since its licence requires a manual download. Dev newstest2013,
    test newstest2014.
    """

    languages = ("en", "ru")
    vocab_size = 40_000
    hparams_set = "transformer_base_paper"
    train_steps = 500_000
    subsets = {  # noqa: RUF012
        "train": ("uncorpus_v1", "commoncrawl", "newscommentary_v11", "wikiheadlines_ru"),
        "dev": ("newstest2013",),
        "test": ("newstest2014",),
    }


@registry.problems.register
class TranslateEnroWmt16(WmtProblem):
    """Europarl 8 and SETIMES 2; dev newsdev2016, test newstest2016."""

    languages = ("en", "ro")
    vocab_size = 32_000
    subsets = {  # noqa: RUF012
        "train": ("europarl_v8_16", "setimes_2"),
        "dev": ("newsdev2016",),
        "test": ("newstest2016",),
    }
