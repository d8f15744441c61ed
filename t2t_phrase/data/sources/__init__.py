"""Where corpora come from: downloads, local files, the built-in grammar."""
