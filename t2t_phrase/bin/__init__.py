"""Command-line tools: flags, then one library call each."""
