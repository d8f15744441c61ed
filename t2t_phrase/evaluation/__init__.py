"""Corpus scores with their signatures."""
