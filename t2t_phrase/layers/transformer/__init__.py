"""Encoder and decoder layers of the Transformer (Vaswani et al., 2017)."""
