"""Families of fingerprints and similarities compared with each other."""
