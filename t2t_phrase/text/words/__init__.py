"""Word vocabularies: training, encoding, and encoding inside a graph."""
