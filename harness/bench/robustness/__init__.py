"""How near changed texts stay to their originals."""
