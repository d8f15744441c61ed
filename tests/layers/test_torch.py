"""Layers on PyTorch, without TensorFlow: in functional models of Keras and in modules."""

import pathlib

from backend_process import needs_torch, run_under

SCRIPT = """
import keras, numpy as np
from t2t_phrase import layers

SIZES = {"num_heads": 2, "hidden_size": 8}
MAKERS = {
    "plain": lambda: layers.MultiHeadAttention(**SIZES),
    "relative": lambda: layers.RelativeMultiHeadAttention(max_relative_position=2, **SIZES),
    "homogeneous": lambda: layers.HomogeneousConvKV(orders=(1, 2), head_counts=(1, 1), **SIZES),
    "heterogeneous": lambda: layers.HeterogeneousQueryK(orders=(1, 2), **SIZES),
    "interleaved": lambda: layers.InterleavedConvKV(orders=(1, 2), **SIZES),
    "global": lambda: layers.GlobalAttention(score=layers.GeneralScore(), units=8),
    "lstm": lambda: layers.BidirectionalLSTM(units=8),
}
ids = np.array([[3, 4, 5, 0, 0], [2, 4, 6, 7, 3]])
for name, make in MAKERS.items():
    keras.utils.set_random_seed(1)
    tokens = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 8, mask_zero=True)(tokens)
    x = layers.Dropout(rate=0.2)(x)
    x = make()(x)[0] if name == "lstm" else make()(x, x)[0]
    mean = keras.layers.GlobalAveragePooling1D()(x)
    model = keras.Model(tokens, keras.layers.Dense(1)(mean))
    longer = np.pad(ids, [(0, 0), (0, 3)])
    np.testing.assert_allclose(model.predict(longer), model.predict(ids), atol=1e-5)
    before = model.predict(ids)
    model.compile(keras.optimizers.Adam(0.05), loss="mse", jit_compile=False)
    losses = model.fit(ids, np.array([[1.0], [-1.0]]), epochs=20).history["loss"]
    assert losses[-1] < losses[0] / 2, (name, losses)
    assert np.abs(model.predict(ids) - before).max() > 0.1
    model.save(sys.argv[1])
    loaded = keras.models.load_model(sys.argv[1])
    np.testing.assert_allclose(loaded.predict(ids), model.predict(ids), atol=1e-6)
"""


@needs_torch
def test_masks_training_and_saving(tmp_path: pathlib.Path) -> None:
    run_under(SCRIPT, tmp_path / "model.keras", backend="torch")


MODULE_SCRIPT = """
import keras, torch
from t2t_phrase import layers

class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(9, 8)
        # The keys of state_dict() contain the name.
        self.attention = layers.InterleavedConvKV(
            num_heads=2, hidden_size=8, orders=(1, 2), name="attention"
        )
        self.dropout = layers.Dropout(rate=0.1)
        self.tags = torch.nn.Linear(8, 3)

    def forward(self, ids):
        x = self.embedding(ids)
        mask = (ids != 0)[:, None, None, :]
        attended, _ = self.attention(x, x, attention_mask=mask)
        return self.tags(self.dropout(attended, training=self.training))

torch.manual_seed(1)
ids = torch.tensor([[3, 4, 5, 0, 0], [2, 4, 6, 7, 3]])
gold = torch.tensor([[0, 1, 2, 0, 0], [2, 0, 1, 0, 1]])
tagger = Tagger()
tagger(ids)  # builds the weights of the layers
attention = set(tagger.attention.parameters())
assert len(attention) == len(tagger.attention.weights) > 4
optimizer = torch.optim.Adam(tagger.parameters(), lr=0.03)
losses = []
for _ in range(40):
    optimizer.zero_grad()
    logits = tagger(ids)
    loss = torch.nn.functional.cross_entropy(logits[ids != 0], gold[ids != 0])
    loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in attention)
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 4, losses
tagger.eval()
torch.save(tagger.state_dict(), sys.argv[1])
other = Tagger()
other(ids)
other.load_state_dict(torch.load(sys.argv[1]))
other.eval()
torch.testing.assert_close(other(ids), tagger(ids))
"""


@needs_torch
def test_layers_are_modules_of_pytorch(tmp_path: pathlib.Path) -> None:
    run_under(MODULE_SCRIPT, tmp_path / "tagger.pt", backend="torch")
