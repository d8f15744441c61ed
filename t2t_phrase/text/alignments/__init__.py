"""Word alignments as text, and what follows from them for each token."""
