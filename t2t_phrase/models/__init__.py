"""Encoder-decoder models and the dataclasses of their hyperparameters."""
