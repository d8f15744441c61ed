"""What a run is built from."""

import types

import pytest

from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.peers import Peers
from t2t_phrase.training.setup import _parts


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
