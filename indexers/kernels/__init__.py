"""Compiled inner loops. Arrays in, arrays out."""
