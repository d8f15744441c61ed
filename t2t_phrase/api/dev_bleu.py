"""BLEU of translations of the development set, for evaluations during training."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.length_notes import length_notes
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.evaluation.bleu import Score, corpus_bleu
from t2t_phrase.evaluation.scores import make_bleu
from t2t_phrase.features import of_side
from t2t_phrase.training.run_options import RunOptions


@dataclasses.dataclass(frozen=True)
class DevBleu(Score):
    """A BLEU score and the translations that it was computed on.

    Attributes:
        translations: one for each sentence of the development set.
    """

    translations: tuple[str, ...] = ()


def dev_bleu(
    options: RunOptions, hparams: DecodeHParams, *, log: Callable[[str], None] = print
) -> Callable[[Any], Callable[[], DevBleu]]:
    """Return a function from a model to a function that computes its development BLEU.

    If the development set has several references, BLEU counts matches with any of them. The text is
    tokenised as the problem says.

    Args:
        options: the options of the run.
        hparams: the decoding options.
        log: called with a line for each sentence that is too long.

    Raises:
        UserError: the development set is missing, or lacks a feature; or sacreBLEU lacks the
            problem's tokenizer.
    """
    tokenize = options.problem.bleu_tokenize
    make_bleu(tokenize=tokenize, lowercase=False)  # refuses it before training
    sources, _ = options.problem.raw_text(options.data_dir, "dev")
    references = options.problem.raw_references(options.data_dir, "dev")
    features = options.problem.raw_features(
        options.data_dir, "dev", of_side(options.hparams.features, "source")
    )
    vocabularies = options.problem.vocabularies(options.data_dir)

    def make(model: Any) -> Callable[[], DevBleu]:
        # One translator for all evaluations, so that its compiled functions are kept.
        translator = Translator(model, vocabularies, hparams, xla=options.xla)
        encoded = translator.encode(sources, features)
        for note in length_notes(
            encoded,
            max_input_size=hparams.max_input_size,
            max_length=options.hparams.max_length,
        ):
            log(f"development set: {note}")

        def score() -> DevBleu:
            found = translator.translate_encoded(encoded)
            hypotheses = tuple(beams[0].text for beams in found)
            bleu = corpus_bleu(hypotheses, references, tokenize=tokenize)
            return DevBleu(**vars(bleu), translations=hypotheses)

        return score

    return make
