"""Text operations inside a TensorFlow graph, each the counterpart of a Python function."""
