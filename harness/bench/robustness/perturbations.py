"""What is done to texts to see what a fingerprint withstands.

Each perturbation has a name and strengths, shares of what it touches. What is touched depends on
the seed, the perturbation and the document's id alone, and a greater strength touches what a
smaller one does and more.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from harness.bench.robustness.summarise import by_centrality, sentences
from indexers.atoms import mixed
from indexers.types import U64

SHORTER = (0.0, 0.2, 0.4, 0.6, 0.8)
TYPO_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
TOUCHED = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
ALL_OR_NONE = (0.0, 1.0)

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(r"\S+")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}


class Draws:
    """Random numbers that depend on a seed and some names alone.

    They are the outputs of splitmix64 (Steele, Lea, Flood 2014) started at the first 8 bytes,
    little-endian, of BLAKE2b of seed and names, UTF-8 with a NUL between.
    """

    def __init__(self, seed: int, *names: str) -> None:
        told = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(told, digest_size=8).digest()
        self._start = np.frombuffer(digest, "<u8").astype(np.uint64)

    def numbers(self, count: int) -> U64:
        """The first numbers, uint64 (count,)."""
        steps = np.arange(1, count + 1, dtype=np.uint64)
        return mixed(self._start + steps * _GAMMA)

    def order(self, count: int) -> list[int]:
        """0 … count − 1 shuffled."""
        shuffled: list[int] = np.argsort(self.numbers(count), kind="stable").tolist()
        return shuffled


Change = Callable[[str, float, Draws], str]


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to change texts.

    Attributes:
        strengths: rising, from 0, which leaves a text as it is.
        share_of: what a strength is a share of.
        change: a text, a strength above 0 and draws to the changed text.
    """

    strengths: tuple[float, ...]
    share_of: str
    change: Change

    def __call__(self, text: str, strength: float, draws: Draws) -> str:
        """The text changed at this strength."""
        return self.change(text, strength, draws) if strength else text


def touched(share: float, count: int) -> int:
    """How many of some things a share is, halves up."""
    return int(share * count + 0.5)


def _kept(parts: Sequence[str], order: Sequence[int], share: float) -> str:
    """The first sentences in an order, as many as come nearest to the words that shall stay."""
    lengths = [len(part.split()) for part in parts]
    target, words = (1 - share) * sum(lengths), 0
    kept: list[int] = []
    for place in order:
        longer = words + lengths[place]
        if kept and abs(longer - target) > abs(words - target):
            break
        kept.append(place)
        words = longer
    return " ".join(parts[place] for place in sorted(kept))


def extract(text: str, share: float, draws: Draws) -> str:  # noqa: ARG001  # nothing is random
    """The most central sentences, in the order of the text; at least one."""
    parts = sentences(text)
    return _kept(parts, by_centrality(parts), share) if parts else text


def drop_sentences(text: str, share: float, draws: Draws) -> str:
    """The text without some sentences; at least one stays."""
    parts = sentences(text)
    return _kept(parts, draws.order(len(parts))[::-1], share) if parts else text


def drop_words(text: str, share: float, draws: Draws) -> str:
    """The text without some words; at least one stays."""
    words = text.split()
    gone = set(draws.order(len(words))[: min(touched(share, len(words)), len(words) - 1)])
    return " ".join(word for place, word in enumerate(words) if place not in gone)


def typos(text: str, share: float, draws: Draws) -> str:
    """Some characters replaced, left out, doubled by a letter, or swapped with the next."""
    characters = list(text)
    values = draws.numbers(len(characters)).tolist()
    for place in draws.order(len(characters))[: touched(share, len(characters))]:
        letter = _LETTERS[values[place] % len(_LETTERS)]
        kind = values[place] // len(_LETTERS) % 4
        if kind == 3 and place + 1 < len(characters):
            pair = (characters[place + 1], characters[place])
            characters[place], characters[place + 1] = pair
        else:
            characters[place] = (letter, "", characters[place] + letter, letter)[kind]
    return "".join(characters)


def _moved(parts: Sequence[str], share: float, draws: Draws) -> list[str]:
    """Some parts, each put to the place of the next one that is touched, in a drawn order."""
    order = draws.order(len(parts))[: touched(share, len(parts))]
    moved = list(parts)
    for place, source in zip(order, order[1:] + order[:1], strict=True):
        moved[place] = parts[source]
    return moved


def reorder_sentences(text: str, share: float, draws: Draws) -> str:
    """Some sentences change places."""
    return " ".join(_moved(sentences(text), share, draws))


def reorder_words(text: str, share: float, draws: Draws) -> str:
    """Some words change places."""
    return " ".join(_moved(text.split(), share, draws))


def case(text: str, share: float, draws: Draws) -> str:
    """Some words in capitals."""
    count = len(_WORD.findall(text))
    loud = set(draws.order(count)[: touched(share, count)])
    place = iter(range(count))
    return _WORD.sub(lambda word: word[0].upper() if next(place) in loud else word[0], text)


def punctuation(text: str, share: float, draws: Draws) -> str:
    """The text without some of its punctuation marks (Unicode category P)."""
    places = [i for i, char in enumerate(text) if unicodedata.category(char).startswith("P")]
    order = draws.order(len(places))[: touched(share, len(places))]
    gone = {places[i] for i in order}
    return "".join(char for i, char in enumerate(text) if i not in gone)


def _form(name: Literal["NFC", "NFD", "NFKC"]) -> Change:
    def change(text: str, share: float, draws: Draws) -> str:  # noqa: ARG001  # all or nothing
        return unicodedata.normalize(name, text)

    return change


def full_width(text: str, share: float, draws: Draws) -> str:  # noqa: ARG001  # all or nothing
    """ASCII as the full-width forms of East Asian typography."""
    return text.translate(_FULL_WIDTH)


PERTURBATIONS: Mapping[str, Perturbation] = MappingProxyType(
    {
        "extract": Perturbation(SHORTER, "words removed, by sentence", extract),
        "drop-sentences": Perturbation(SHORTER, "words removed, by sentence", drop_sentences),
        "drop-words": Perturbation(SHORTER, "words removed", drop_words),
        "typos": Perturbation(TYPO_SHARES, "characters mistyped", typos),
        "reorder-sentences": Perturbation(TOUCHED, "sentences moved", reorder_sentences),
        "reorder-words": Perturbation(TOUCHED, "words moved", reorder_words),
        "case": Perturbation(TOUCHED, "words in capitals", case),
        "punctuation": Perturbation(TOUCHED, "marks removed", punctuation),
        "nfc": Perturbation(ALL_OR_NONE, "the text in NFC", _form("NFC")),
        "nfd": Perturbation(ALL_OR_NONE, "the text in NFD", _form("NFD")),
        "nfkc": Perturbation(ALL_OR_NONE, "the text in NFKC", _form("NFKC")),
        "full-width": Perturbation(ALL_OR_NONE, "ASCII in full width", full_width),
    }
)
"""Name -> perturbation, in the order of reports."""
