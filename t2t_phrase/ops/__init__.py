"""Pure functions on keras.ops: masks, attention, n-grams, segments, positions, the loss."""
