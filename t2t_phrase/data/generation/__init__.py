"""From a corpus to a vocabulary and record shards."""
