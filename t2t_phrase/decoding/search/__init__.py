"""Searching for translations, on token ids alone."""
