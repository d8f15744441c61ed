"""Corpora, one file each: registrations only."""
