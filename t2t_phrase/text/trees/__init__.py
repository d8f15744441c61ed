"""Constituency trees: reading, parsing, and cutting sentences into segments."""
