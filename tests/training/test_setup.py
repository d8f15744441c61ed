"""What a run is built from."""

import types

import pytest

from t2t_phrase import registry
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.fine_tuning import freeze
from t2t_phrase.training.peers import Peers
from t2t_phrase.training.setup import _frozen_warning, _parts


@pytest.mark.parametrize(
    ("saves", "evaluate", "parts"),
    [
        (True, True, 4),
        (True, False, 4),
        (False, False, 4),  # --dry_run
        (False, True, 1),  # --schedule=evaluate makes no updates
    ],
)
def test_all_updates_have_the_effective_batch_size(tmp_path, saves, evaluate, parts):
    hparams = TransformerHParams(batch_size=512, effective_batch_size=2048)
    options = types.SimpleNamespace(
        saves=saves, evaluate=evaluate, hparams=hparams, output_dir=tmp_path
    )
    assert _parts(options, 1, Peers(Cluster()), print) == parts


def test_frozen_variables_with_random_values_are_named():
    registry.discover()
    hparams = TransformerHParams(num_hidden_layers=1, hidden_size=8, filter_size=8, num_heads=2)
    model = registry.models["transformer"].from_hparams(hparams, vocab_size=8)
    assert not _frozen_warning(model, ())
    freeze(model, ["embedding/*", "encoder_layer_0/feed_forward/*"])
    text = _frozen_warning(model, ("embedding/embeddings",))
    assert text.startswith("WARNING: 4 frozen variables will keep initial values, random where ")
    assert text.endswith(" and 1 more") and "embedding/embeddings" not in text
