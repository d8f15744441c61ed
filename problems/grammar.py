"""Sentences of the built-in English-German grammar; nothing is downloaded."""

from __future__ import annotations

from t2t_phrase import registry
from t2t_phrase.data.sources.grammar_problem import GrammarProblem


@registry.problems.register
class TranslateEndeGrammar(GrammarProblem):
    """100,000 training pairs, none of which is in dev or test."""

    languages = ("en", "de")
    sizes = {"train": 100_000, "dev": 1000, "test": 1000}  # noqa: RUF012
    vocab_size = 4000
    hparams_set = "phrase_interleaved_convkv_1_2_demo_muon"
    train_steps = 800


@registry.problems.register
class TranslateEndeGrammar10k(TranslateEndeGrammar):
    """The first 10,000 training pairs of `translate_ende_grammar`, with its dev and test sets."""

    sizes = TranslateEndeGrammar.sizes | {"train": 10_000}
    hparams_set = ""


@registry.problems.register
class TranslateEndeGrammar1m(TranslateEndeGrammar):
    """One million training pairs, `translate_ende_grammar`'s first, with its dev and test sets."""

    sizes = TranslateEndeGrammar.sizes | {"train": 1_000_000}
    hparams_set = ""


@registry.problems.register
class TranslateEndeGrammarWords(TranslateEndeGrammar):
    """`translate_ende_grammar` in words as written, 1,000 a side; all others are unknown."""

    vocab_size = 1000
    shared_vocab = False
    vocab_type = "words"
    hparams_set = "luong_unk_replace_demo"
    train_steps = 1000
