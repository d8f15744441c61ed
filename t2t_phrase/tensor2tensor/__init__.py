"""Import of checkpoints of the original tensor2tensor."""
