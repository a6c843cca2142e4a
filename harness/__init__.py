"""Joins fingerprints and load: quality, tuning, reports, the command line."""

__version__ = "0.1.0"
