"""Constituency trees: reading, parsing, and the phrases they contain."""
