"""Vocabularies, annotations and trees of sentences."""
