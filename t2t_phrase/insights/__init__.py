"""What a trained model attends to: statistics of its attentions, and pictures of them."""
