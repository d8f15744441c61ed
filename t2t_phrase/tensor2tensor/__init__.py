"""Reads the checkpoints, variable names and vocabularies of the original tensor2tensor."""
