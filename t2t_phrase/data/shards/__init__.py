"""Files of encoded sentence pairs."""
