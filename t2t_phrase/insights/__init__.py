"""Statistics and pictures of a trained model's attention."""
