"""A run's folder: its record, checkpoints, averages, and the models loaded from it."""
