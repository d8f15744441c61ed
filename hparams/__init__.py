"""Hparams sets, one file for each model family: registrations only."""
