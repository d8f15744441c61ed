import pytest

from t2t_phrase.config import HParamsError
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.models.transformer_hparams import TransformerHParams


@pytest.mark.parametrize(
    ("effective", "replicas", "parts"),
    [(0, 1, 1), (0, 8, 1), (4096, 1, 1), (32768, 1, 8), (32768, 2, 4), (32768, 8, 1)],
)
def test_the_effective_batch_is_divided_among_replicas_and_parts(effective, replicas, parts):
    hparams = TransformerHParams(batch_size=4096, effective_batch_size=effective)
    assert hparams.parts(replicas) == parts


@pytest.mark.parametrize(
    ("effective", "fitting"),
    [(-1, "4096"), (2048, "4096, or batch_size=2048"), (10000, "8192 or 12288")],
)
def test_an_effective_batch_is_a_multiple_of_the_batch(effective, fitting):
    with pytest.raises(HParamsError) as caught:
        TransformerHParams(batch_size=4096, effective_batch_size=effective)
    assert str(caught.value) == (
        f"TransformerHParams: effective_batch_size={effective}: must be a multiple of "
        f"batch_size=4096, such as {fitting}; 0: one update per batch"
    )


@pytest.mark.parametrize(
    ("replicas", "fitting"), [(3, "24576 or 36864"), (16, "65536, or batch_size=2048")]
)
def test_an_effective_batch_that_the_replicas_cannot_share(replicas, fitting):
    hparams = TransformerHParams(batch_size=4096, effective_batch_size=32768)
    expected = (
        f"effective_batch_size=32768: must be a multiple of batch_size=4096 on {replicas} "
        f"replicas, such as {fitting}; 0: one update per batch"
    )
    with pytest.raises(HParamsError) as caught:
        hparams.parts(replicas)
    assert str(caught.value) == expected


def test_both_sizes_may_be_wrong():
    with pytest.raises(HParamsError, match="batch_size: must be positive, got 0"):
        TransformerHParams(batch_size=0, effective_batch_size=7)


def test_models_whose_rows_cannot_be_packed_say_so():
    with pytest.raises(HParamsError, match="packed_length=256: a recurrent model takes a step"):
        LuongHParams(packed_length=256)

    class Own(TransformerHParams):
        model = "own"

    with pytest.raises(HParamsError, match="packed_length=256: its model does not declare"):
        Own(packed_length=256)

    class SameModel(TransformerHParams):
        pass

    assert SameModel(packed_length=256).packed_length == 256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("packed_length=128", "packed_length=128: a pair of max_length=256 tokens does not fit"),
        ("packed_length=-1", "packed_length: must not be negative, got -1"),
        ("packed_length=512,batch_size=256", "batch_size=256 tokens cannot hold a row of pack"),
    ],
)
def test_a_packed_length_that_fits_nothing(change, message):
    with pytest.raises(HParamsError, match=message):
        TransformerHParams().override(change)


def test_patterns_may_have_brackets():
    hparams = TransformerHParams().override(
        "frozen_variables=[embedding/*,encoder_layer_[01]/*],learning_rate_factors=[a_[01]*=0.1,b=2]"
    )
    assert hparams.frozen_variables == ("embedding/*", "encoder_layer_[01]/*")
    assert hparams.learning_rate_factors == ("a_[01]*=0.1", "b=2")
