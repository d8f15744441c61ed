"""Problems, record shards and the input pipeline."""
