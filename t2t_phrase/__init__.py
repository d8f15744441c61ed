"""Phrase-aware neural machine translation, in the habits of tensor2tensor."""

__version__ = "0.1.0"
