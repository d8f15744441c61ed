"""From record shards to batches."""
