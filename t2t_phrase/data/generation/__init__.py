"""Generation of vocabularies and record shards from a corpus."""
