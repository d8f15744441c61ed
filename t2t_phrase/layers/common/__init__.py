"""The parts that every Transformer is built of."""
