"""The vocabulary that belongs to a trained model."""

from __future__ import annotations

import hashlib
import pathlib

from t2t_phrase.config import UserError
from t2t_phrase.data.problem import get_problem
from t2t_phrase.runs.load_model import TrainedModel
from t2t_phrase.tensor2tensor.subwords import T2TSubwords
from t2t_phrase.text.vocabularies import Encoder

# In the folder of an imported run: a copy of tensor2tensor's vocabulary.
T2T_VOCABULARY = "vocab.t2t.subwords"


def run_encoder(
    trained: TrainedModel, *, data_dir: str | None, problem: str | None = None
) -> Encoder | T2TSubwords:
    """Return the subword encoder of a model.

    A model imported from tensor2tensor may have brought its own; all others' lie in `data_dir`.

    Args:
        trained: the model.
        data_dir: where t2t-phrase-datagen put the vocabulary.
        problem: whose vocabulary it is, where the run does not say.

    Raises:
        UserError: it cannot be found, or is not the one the model was trained with.
    """
    folder = pathlib.Path(trained.checkpoint).parent
    for place in (folder, folder.resolve().parent):
        if (place / T2T_VOCABULARY).exists():
            return T2TSubwords.load(place / T2T_VOCABULARY)
    name = trained.record.problem or problem
    if not name:
        raise UserError(
            f"{trained.checkpoint} does not say which problem it is for: give --problem"
        )
    if not data_dir:
        raise UserError(f"--data_dir is needed: the vocabulary of {name} lies there")
    encoder = get_problem(name).vocabularies(data_dir).source
    if encoder.vocab_size > trained.record.vocab_size:
        raise UserError(
            f"the vocabulary of {name} in --data_dir={data_dir} has {encoder.vocab_size} pieces, "
            f"the model only {trained.record.vocab_size}: it was trained on other data"
        )
    recorded = trained.record.vocabulary
    if recorded and recorded != hashlib.sha256(encoder.model_bytes).hexdigest():
        raise UserError(
            f"the vocabulary of {name} in --data_dir={data_dir} is not the one the model was "
            "trained with (its checksum differs); give the --data_dir of the training"
        )
    return encoder
