"""How features of sentences are written as text, and become one integer for each token."""
