"""The page that compares translations of several systems."""
