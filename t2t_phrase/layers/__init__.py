"""Keras layers, one public class per file."""
