"""Small recurrent lexical and alignment models, one for each structure."""

from __future__ import annotations

from t2t_phrase.models.alignment_assisted_rnn import with_biased_attention
from t2t_phrase.models.alignment_model_rnn import with_recurrent_jumps
from t2t_phrase.models.luong_hparams import LuongHParams

SMALL = LuongHParams(
    hidden_size=8,
    num_hidden_layers=1,
    encoder_reads="both",
    attention="global",
    attention_score="concat",
    input_feeding=True,
    label_smoothing=0.1,
)
LEXICAL = {
    "feeding": with_biased_attention(SMALL),
    "general": with_biased_attention(
        SMALL, attention_score="general", input_feeding=False, encoder_reads="backwards"
    ),
    "dot": with_biased_attention(SMALL, attention_score="dot", num_hidden_layers=2),
}
JUMPS = {
    "jumps": with_recurrent_jumps(SMALL),
    "jumps_of_two_layers": with_recurrent_jumps(
        SMALL, num_hidden_layers=2, encoder_reads="forwards"
    ),
}
