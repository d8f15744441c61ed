"""Problems, grouped by corpus; these files only register them."""
