"""Losses and schedules (keras); the loop, checkpoints and distribution (tensorflow)."""
