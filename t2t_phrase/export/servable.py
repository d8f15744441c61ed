"""The checks of a model and its options of decoding before it is served."""

from __future__ import annotations

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.source_attention import source_attention
from t2t_phrase.decoding.search.translate_ids import MakeExpansion, chosen_expansion
from t2t_phrase.decoding.translator import check_word_level
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.text.encoders import SpellingEncoder


def check_servable(
    model: EncoderDecoder,
    target: SpellingEncoder,
    hparams: DecodeHParams,
    make_expansion: MakeExpansion | None = None,
) -> None:
    """Check that a model can be served with these options, before the first trace shows it.

    Args:
        model: an encoder-decoder.
        target: the vocabulary of the target.
        hparams: the options of decoding.
        make_expansion: another way of continuing hypotheses, see `search.translate_ids.search`.

    Raises:
        UserError: it cannot; the message names the option, and what to do.
    """
    chosen = chosen_expansion(hparams, make_expansion)
    if chosen is None and model.capabilities.cannot_translate:
        raise UserError(model.capabilities.cannot_translate)
    if hparams.mbr:
        raise UserError(
            "mbr=true: samples are compared in Python, and a served model consists of "
            "TensorFlow operations; leave it out of --decode_hparams"
        )
    if hparams.sampling_temp:
        raise UserError(
            f"sampling_temp={hparams.sampling_temp}: a served model always answers the same "
            "request in the same way; leave sampling out of --decode_hparams"
        )
    if hparams.write_alignments:
        raise UserError(
            "write_alignments=true: a served model returns alignments by its signature "
            "translate_with_dictionary, whose dictionaries may be empty; leave it out of "
            "--decode_hparams"
        )
    if hparams.batch_size != DecodeHParams.batch_size:
        raise UserError(
            f"batch_size={hparams.batch_size}: the server decides how many sentences a served "
            "model searches at once (t2t-phrase-serve: by --serving_hparams=max_batch_size=...); "
            "leave it out of --decode_hparams"
        )
    for field in hparams.given(("return_beams", "write_scores")):
        raise UserError(
            f"{field}=true: a served model returns all hypotheses with their scores by its "
            "signature nbest; leave it out of --decode_hparams"
        )
    if hparams.replace_unknown:
        check_word_level(target)
    if hparams.coverage_penalty or (
        hparams.replace_unknown and not model.capabilities.hypothesises_positions
    ):
        source_attention(model, layers=hparams.alignment_layers, heads=hparams.alignment_heads)


def check_searched_alone(model: EncoderDecoder, format: str) -> None:
    """Check that a model translates by the plain search of another program.

    Args:
        model: an encoder-decoder.
        format: that of the export, for the message.

    Raises:
        UserError: it is searched together with another model.
    """
    reason = model.capabilities.cannot_translate
    if reason:
        raise UserError(f"--format={format}: {reason}; only a SavedModel holds such a search")


def can_be_guided(model: EncoderDecoder) -> bool:
    """Return whether a model tells which source token a token is from, as dictionaries need."""
    if model.capabilities.hypothesises_positions:
        return True
    try:
        source_attention(model)
    except UserError:
        return False
    return True
