"""Probing: what the states of an encoder tell about the syntax of a sentence."""
