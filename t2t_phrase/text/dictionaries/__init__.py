"""Dictionaries: source phrases and how they are to be translated."""
