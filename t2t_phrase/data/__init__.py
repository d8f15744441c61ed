"""Problems, generation of record shards, and the input pipeline."""
