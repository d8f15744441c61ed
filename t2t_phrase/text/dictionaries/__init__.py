"""Dictionaries: source phrases and their translations."""
