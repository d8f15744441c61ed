"""Layers of models that read or predict alignments (Alkhouli et al., 2018)."""
