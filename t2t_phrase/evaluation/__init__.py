"""Evaluation: corpus scores with signatures, significance, phenomena, contrastive pairs."""
