"""Probing the states of an encoder for the syntax of a sentence."""
