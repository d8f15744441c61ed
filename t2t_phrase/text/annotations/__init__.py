"""Annotations: features of sentences as text, converted to one integer for each token."""
