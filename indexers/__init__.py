"""Fingerprints and the indexes they are put in. Knows ids and arrays, never judgments."""
