"""Files, locks, lines of text, and jobs on lines that resume where they stopped."""
