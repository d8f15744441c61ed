"""Multi30k task 1: image captions, 29,000 pairs (Elliott et al. 2016, 2017)."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.data.sources.downloaded_problem import DownloadedProblem
from t2t_phrase.data.sources.moses_lowercased import MosesLowercased


class _Multi30k(DownloadedProblem):
    vocab_size = 10_000
    hparams_set = "transformer_multi30k"
    train_steps = 8000
    url = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    sha256 = {  # noqa: RUF012
        "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
        "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
        "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
        "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
        "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
        "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
        "test_2016_flickr.en.gz": (
            "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"
        ),
        "test_2016_flickr.de.gz": (
            "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"
        ),
        "test_2016_flickr.fr.gz": (
            "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90"
        ),
    }

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        stems = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
        if not hasattr(cls, "languages"):
            return
        source, target = cls.languages
        cls.files = {s: (f"{x}.{source}.gz", f"{x}.{target}.gz") for s, x in stems.items()}


@registry.problems.register
class TranslateEndeMulti30k(_Multi30k):
    """English to German; dev is val, test is test_2016_flickr."""

    languages = ("en", "de")


@registry.problems.register
class TranslateEnfrMulti30k(_Multi30k):
    """English to French; dev is val, test is test_2016_flickr."""

    languages = ("en", "fr")


@registry.problems.register
class TranslateEndeMulti30kWords(TranslateEndeMulti30k):
    """`translate_ende_multi30k` in words as written, 8,000 a side; all others are unknown.

    Nothing is tokenised: the full stop belongs to the last word.
    """

    vocab_size = 8000
    shared_vocab = False
    vocab_type = "words"
    hparams_set = "luong_unk_replace_multi30k"
    train_steps = 1000


class _Moses(_Multi30k):
    features = ()
    hparams_set = "transformer_multi30k_post"
    bleu_tokenize = "none"

    def corpus(self, tmp_dir: str) -> Corpus:
        return MosesLowercased(super().corpus(tmp_dir), self.languages)


@registry.problems.register
class TranslateEndeMulti30kMoses(_Moses):
    """English to German, tokenised with Moses and lowercased, as in Wu et al. (2021).

    Score with `t2t-phrase-eval --tokenize=none`, since translations and references are tokenised;
    BLEU during training is computed like this too.
    """

    languages = ("en", "de")


@registry.problems.register
class TranslateEnfrMulti30kMoses(_Moses):
    """English to French, tokenised and lowercased as in `translate_ende_multi30k_moses`."""

    languages = ("en", "fr")
