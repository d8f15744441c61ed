"""An HTTP server for trained and exported models, with TensorFlow Serving's REST interface."""
