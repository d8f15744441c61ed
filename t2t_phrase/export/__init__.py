"""SavedModels that take strings and return strings."""
