"""Phrase-aware neural machine translation, following the conventions of tensor2tensor."""

__version__ = "0.1.0"
