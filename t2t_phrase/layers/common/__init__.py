"""The building blocks of every Transformer."""
