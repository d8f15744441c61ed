"""Attention over overlapping n-grams (Nguyen and Joty, 2018)."""
