"""Layers over the segments of a partition of the source (Xu et al., 2020)."""
