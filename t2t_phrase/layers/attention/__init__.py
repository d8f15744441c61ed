"""Attention over tokens, and the protocol that every attention follows."""
