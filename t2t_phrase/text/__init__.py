"""Subword encoders."""
