"""Flags of hash curves that would change nothing beside others: refused, not passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.vector_flags import ENCODING
from indexers.errors import SettingError

RAW_ONLY = (
    "codes",
    "query_codes",
    "packed",
    "labels",
    "query_labels",
    "judgments",
    "ids",
    "query_ids",
    "neighbours",
    "split",
)
CORPUS_ONLY = ("fields", "truth", *ENCODING)
_TOLD_BY = ("labels", "judgments", "neighbours")


def check_raw(flags: Mapping[str, Any]) -> None:
    """Refuse flags without effect on raw arrays.

    Args:
        flags: name -> value, None where it was not given.

    Raises:
        SettingError: one line for each.
    """
    given = {name for name, value in flags.items() if value is not None}
    _refuse([*_outside(given, CORPUS_ONLY, "belongs to --corpus"), *_idle_raw(given, flags)])


def check_corpus(flags: Mapping[str, Any]) -> None:
    """Refuse flags of raw arrays beside a corpus, and those of an encoder without a model.

    Raises:
        SettingError: one line for each.
    """
    given = {name for name, value in flags.items() if value is not None}
    lines = [*_outside(given, RAW_ONLY, "belongs to --codes, not to --corpus")]
    if "vectors" in given and "model" in given:
        lines.append("--vectors and --model: give one, the vectors or what makes them")
    if "model" not in given:
        lines += _outside(given, ENCODING, "belongs to --model")
    _refuse(lines)


def check_truth(kind: str, flags: Mapping[str, Any]) -> None:
    """Refuse flags without effect on what is relevant in a corpus.

    Args:
        kind: `judgments`, `neighbours` or `vectors`.
        flags: name -> value, None where it was not given.

    Raises:
        SettingError: one line for each.
    """
    given = {name for name, value in flags.items() if value is not None}
    _refuse([*_idle(given, flags, kind)])


def _idle_raw(given: set[str], flags: Mapping[str, Any]) -> Iterator[str]:
    told = [name for name in _TOLD_BY if name in given]
    kind = told[0] if told else "vectors"
    if kind == "neighbours":
        kind = "a list of neighbours"
    if told or "vectors" in given:
        yield from _idle(given, flags, kind)
    yield from _outside(
        given, ("ids", "query_ids") if "judgments" not in given else (), "belongs to --judgments"
    )
    if "labels" not in given:
        yield from _outside(given, ("query_labels",), "belongs to --labels")
    if "vectors" not in given:
        yield from _outside(given, ("query_vectors",), "belongs to --vectors")
    if "family" in given:
        yield from _outside(given, ("packed", "query_codes"), "belongs to --codes")
    elif "query_codes" in given:
        yield from _outside(given, ("seed",), "draws a split, and --query-codes leaves none")


def _idle(given: set[str], flags: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Flags that this kind of truth does not read."""
    rule = (flags.get("rule") or "ball") if kind == "vectors" else None
    by_rank = kind == "neighbours" or rule == "neighbours"
    why = f"has no effect where {kind} tell what is relevant"
    if kind == "a list of neighbours":
        why = "has no effect where --neighbours tells what is relevant"
    if kind == "vectors":
        why = f"has no effect by the rule {rule}"
    reads = {
        "rule": kind == "vectors",
        "k": by_rank,
        "ball_rank": rule == "ball",
        "relevant_from": kind == "judgments",
    }
    yield from _outside(given, tuple(name for name, read in reads.items() if not read), why)


def _outside(given: set[str], names: tuple[str, ...], why: str) -> Iterator[str]:
    return (f"--{name.replace('_', '-')} {why}; leave it out" for name in names if name in given)


def _refuse(lines: list[str]) -> None:
    if lines:
        raise SettingError(*lines)
