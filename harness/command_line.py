"""A command line as reports and deploy files show it: one line that a shell reads back the same."""

from __future__ import annotations

import shlex


def one_line(command: str) -> str:
    """A command on one line of plain characters.

    A word with line ends, control characters or several spaces in a row, which a page would fold
    or hide, is written as `$'…'` (POSIX.1-2024, 2.2.4), for the others `shlex.quote` will do.

    Args:
        command: words as `shlex.join` puts them together.
    """
    try:
        words = shlex.split(command)
    except ValueError:  # a secret was taken out of it, with a quote
        return " ".join(command.split())
    return " ".join(map(_word, words))


def _word(word: str) -> str:
    if word.isprintable() and "  " not in word:
        return shlex.quote(word)
    return f"$'{''.join(map(_escaped, word))}'"


def _escaped(letter: str) -> str:
    if letter in "\\'":
        return f"\\{letter}"
    if letter.isprintable() and letter != " ":
        return letter
    # octal, three digits each: what follows can never belong to it
    return "".join(f"\\{byte:03o}" for byte in letter.encode(errors="surrogateescape"))
