"""Queries of the built-in catalogue: a listing, as somebody else would type it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.collection.catalogue_goods import Draw, Listing

_SEPARATORS = ("-", "|")  # sellers set them between attributes; nobody types them
# Neighbours on a keyboard, for slips of the finger.
_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEXT_KEY = {key: row[place - 1 if place else 1] for row in _ROWS for place, key in enumerate(row)}


def _misspell(draw: Draw, word: str) -> str:
    """One slip: two letters swapped, one left out, doubled, or its neighbour on the keyboard."""
    if len(word) < 3:
        return word
    place = 1 + int(draw() * (len(word) - 2))
    head, letter, tail = word[:place], word[place], word[place + 1 :]
    match int(draw() * 4):
        case 0:
            return head + tail[0] + letter + tail[1:]
        case 1:
            return head + tail
        case 2:
            return head + letter + letter + tail
        case _:
            return head + _NEXT_KEY.get(letter, letter) + tail


def _abbreviate(draw: Draw, word: str) -> str:
    """The first letters, or the word without vowels after its first letter."""
    if len(word) < 6:
        return word
    if draw() < 0.5:
        return word[:4] + "."
    return word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou")


def _perturb_words(draw: Draw, words: Sequence[str], strength: float) -> list[str]:
    """Drop, misspell and abbreviate words, then move some; two words stay, if there are two."""
    found: list[str] = []
    for place, word in enumerate(words):
        left_to_keep = len(words) - place <= 2 - len(found)
        if draw() < 0.3 * strength and not left_to_keep:
            continue
        change = draw()
        if change < 0.2 * strength:
            word = _misspell(draw, word)
        elif change < 0.3 * strength:
            word = _abbreviate(draw, word)
        found.append(word)
    for _ in range(int(draw() * strength * len(found) / 2)):
        word = found.pop(int(draw() * len(found)))
        found.insert(int(draw() * (len(found) + 1)), word)
    return found


def _chosen_sentences(draw: Draw, listing: Listing) -> list[str]:
    """None of the description in a fifth of the queries, a sentence in as many, else all of it."""
    sentences = listing.sentences
    kind = draw()
    if kind < 0.2:
        return []
    if kind < 0.4:
        return [sentences[int(draw() * len(sentences))]]
    return list(sentences)


def write_query(draw: Draw, listing: Listing) -> str:
    """A perturbed listing: words dropped, misspelt, abbreviated and moved.

    The strength is uniform from almost none to three tenths of the words dropped and as many
    changed. Title and description are perturbed apart, so that words stay in their part. The
    text always differs from the listing's.
    """
    strength = draw()
    parts = [listing.title, " ".join(_chosen_sentences(draw, listing))]
    typed = [[word for word in part.split() if word not in _SEPARATORS] for part in parts]
    perturbed = [_perturb_words(draw, part, strength) for part in typed]
    found = [word for part in perturbed for word in part]
    if found == listing.text.split():
        found.pop()
    return " ".join(found)
