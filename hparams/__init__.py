"""Hyperparameter sets, one file per model family: registrations only."""
