"""Word alignments as text, and links and dictionaries derived from them."""
