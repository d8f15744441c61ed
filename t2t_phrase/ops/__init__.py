"""Pure functions on keras.ops: masks, attention, linear maps."""
