"""Sources of corpora: downloads, local files and the built-in grammar."""
