"""What is done to a text before anything is computed from it."""

from __future__ import annotations

import unicodedata

NORMALISER = "nfc-lower-space-1"
"""Name of what `normalise` does; changes whenever a result of it would."""


def normalise(text: str) -> str:
    """NFC, lower case, runs of white space to one space, trimmed; punctuation stays.

    White space is what `str.split` takes for it. Idempotent; lone surrogates are kept.
    """
    if not text.isascii():
        # lower case can be composable where upper case was not: J + caron
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    return " ".join(text.lower().split())
