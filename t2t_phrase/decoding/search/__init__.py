"""Search for the best outputs: token ids in, token ids out."""
