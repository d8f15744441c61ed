"""Training of several hparams sets by one recipe, and the comparison of their translations."""
