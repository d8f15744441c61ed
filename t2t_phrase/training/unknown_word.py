"""Check that vocabularies have the unknown word, which word dropout reads."""

from __future__ import annotations

from t2t_phrase.config import UserError
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.training_hparams import TrainingHParams


def check_word_dropout(hparams: TrainingHParams, vocabularies: Vocabularies) -> None:
    """Check that dropped words can be read as the unknown word.

    Args:
        hparams: hyperparameters of the model.
        vocabularies: vocabularies of its data.

    Raises:
        UserError: words are dropped on a side whose vocabulary has no unknown word.
    """
    for side in ("source", "target"):
        name = f"{side}_word_dropout"
        share = getattr(hparams, name, 0.0)  # some models have no such option
        if share and isinstance(getattr(vocabularies, side), T2TSubwords):
            raise UserError(
                f"{name}={share}: tensor2tensor's own subwords have no unknown word that the model "
                f"could read instead; add --hparams={name}=0.0"
            )
