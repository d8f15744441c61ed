"""Reads checkpoints of the original tensor2tensor."""
