"""Text operations inside a TensorFlow graph, each the twin of a Python function."""
