"""Two or three texts side by side: every family's fingerprint, every fitting similarity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from harness.bench.hashing import bench_params, fingerprint
from harness.collection.lines import shown
from indexers import limits, registry
from indexers.encoder import EncoderParams
from indexers.errors import InputError, MissingPackage, SettingError
from indexers.types import F32, Fingerprints, Form, Items, Status, TableSize

NAMES = ("A", "B", "C")
DEFAULTS: Mapping[str, Any] = {
    "unit": "char",
    "shingle_size": 3,
    "window": 5,
    "weighting": "tf",
}
"""As `tune` hashes: two texts tell no document frequencies."""
SHOWN_VALUES = 8
_OF_TEXTS = "karp_rabin"
"""A family that takes every text, and no width."""
LONGEST_SEQUENCE = 20_000
"""Hashes of a text that Levenshtein compares in a row: its time grows with the product of two."""


def read_texts(given: Sequence[str], *, files: bool, stdin: bytes | None = None) -> list[str]:
    """The texts themselves, or those that files hold.

    Args:
        given: two or three texts or paths; the path `-` stands for `stdin`.
        files: whether they are paths.
        stdin: what came on standard input.

    Raises:
        SettingError: there are not two or three, or a file cannot be read or is not UTF-8.
    """
    if not 2 <= len(given) <= 3:
        raise SettingError(f"{len(given)} given: name two or three texts to compare")
    if not files:
        return list(given)
    return [_decoded(name, stdin or b"" if name == "-" else _bytes(Path(name))) for name in given]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise SettingError(
            f"{shown(path)}: cannot be read ({reason}); give a file, or the text without --file"
        ) from fault


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise SettingError(
            f"{shown(Path(name))}: byte {fault.start + 1} is not UTF-8; save the file as UTF-8"
        ) from fault


def compare(
    texts: Sequence[str],
    *,
    families: Sequence[str] = (),
    encoder: EncoderParams | None = None,
    **hashing: Any,
) -> dict[str, Any]:
    """Fingerprints and similarities of two or three texts.

    Args:
        texts: raw.
        families: names; none for all.
        encoder: makes the vectors that embedding families hash; None leaves those out.
        hashing: of `bench_params`, None for the default: `tune`'s character 3-grams.

    Returns:
        `{"texts": [{"name": "A", "characters"}], "families": [{"family", "status": {"A": "ok",
        …}, "fingerprint": {"A": {"code": hex, "signature_head": [first rows], "hashes": {"count",
        "distinct", "first": [hex]}, "string", "vector_head": [first coordinates]}, …},
        "similarities": [{"similarity", "form", "A-B": float | null, …, "reason": line | null}]}],
        "left_out": [line]}`; a similarity is null where a text has no fingerprint, as where it is
        empty, or for the reason: Levenshtein of more than `LONGEST_SEQUENCE` hashes.

    Raises:
        SettingError: a value is out of range or fits no family, a family is unknown, or one
            asked for by name cannot hash so.
        InputError, BackendError: the encoder cannot be loaded or failed.
    """
    names = NAMES[: len(texts)]
    asked, line = (families, None) if families else _all_families(encoder is not None)
    given = {key: value for key, value in hashing.items() if value is not None}
    _check_given(asked, given)
    vectors = None if encoder is None else _encoded(texts, encoder)
    rows, left_out = [], [] if line is None else [line]
    for family in asked:
        try:
            fingerprints = _fingerprints(family, texts, vectors, given)
        except (InputError, MissingPackage) as fault:
            if families:
                raise
            left_out.append(str(fault))
            continue
        rows.append(_row(family, fingerprints, names))
    return {
        "texts": [
            {"name": name, "characters": len(text)} for name, text in zip(names, texts, strict=True)
        ],
        "families": rows,
        "left_out": left_out,
    }


def _check_given(families: Sequence[str], given: Mapping[str, Any]) -> None:
    """Refuse values out of every range, and a width that no family takes."""
    text = {key: value for key, value in given.items() if key != "bits"}
    of_texts = (name for name in families if registry.family(name).source == "text")
    checked = next(of_texts, _OF_TEXTS)
    params = bench_params(checked, **{**DEFAULTS, **text})
    limits.check(registry.family(checked), TableSize(1, 1), params)
    if "bits" not in given:
        return
    problems: list[str] = []
    for name in families:
        family = registry.family(name)
        if not {"bits", "signature"} & set(family.forms):
            continue
        dimension = given["bits"] if family.source == "vector" else None
        try:
            params = bench_params(name, dimension=dimension, bits=given["bits"])
            family.check(TableSize(1, 1), params)
        except SettingError as error:
            problems += error.problems
        else:
            return
    if problems:
        raise SettingError(*problems[:1])


def _all_families(encoded: bool) -> tuple[list[str], str | None]:
    """The families to compare, and one line on those that wait for vectors."""
    every = registry.family_names()
    if encoded:
        return list(every), None
    waiting = [name for name in every if registry.family(name).source == "vector"]
    line = f"{', '.join(waiting)}: hash vectors; give --model NAME to make them"
    return [name for name in every if name not in waiting], line if waiting else None


def _encoded(texts: Sequence[str], encoder: EncoderParams) -> F32:
    from indexers.encoder import FlagEncoder

    return FlagEncoder(encoder).encode(texts)


def _fingerprints(
    name: str, texts: Sequence[str], vectors: F32 | None, hashing: Mapping[str, Any]
) -> Fingerprints:
    family = registry.family(name)
    if not family.forms:
        raise SettingError(f"{name}: gives membership, no fingerprint to compare")
    items: Items = list(texts)
    if family.source == "vector":
        if vectors is None:
            raise SettingError(f"{name}: hashes vectors; give --model NAME to make them")
        items = vectors
    dimension = None if vectors is None or family.source == "text" else vectors.shape[1]
    params = bench_params(name, dimension=dimension, **{**DEFAULTS, **hashing})
    return fingerprint(name, params, items).documents


def _row(family: str, fingerprints: Fingerprints, names: Sequence[str]) -> dict[str, Any]:
    return {
        "family": family,
        "status": {
            name: Status(status).name.lower()
            for name, status in zip(names, fingerprints.status, strict=True)
        },
        "fingerprint": {name: _shown(fingerprints, row) for row, name in enumerate(names)},
        "similarities": list(_similarities(family, fingerprints, names)),
    }


def _shown(fingerprints: Fingerprints, row: int) -> dict[str, Any]:
    """What a person can look at; nothing where the status is not OK."""
    if fingerprints.status[row] != Status.OK:
        return {}
    shown: dict[str, Any] = {}
    if fingerprints.codes.shape[1]:
        shown["code"] = fingerprints.codes[row].tobytes().hex()
    if fingerprints.signatures is not None:
        shown["signature_head"] = fingerprints.signatures[row, :SHOWN_VALUES].tolist()
    if fingerprints.hashes is not None:
        hashes = fingerprints.hashes.row(row)
        shown["hashes"] = {
            "count": len(hashes),
            "distinct": len(np.unique(hashes)),
            "first": [f"{int(value):016x}" for value in hashes[:SHOWN_VALUES]],
        }
    if fingerprints.strings is not None:
        shown["string"] = bytes(fingerprints.strings.row(row)).decode("ascii")
    if fingerprints.vectors is not None:
        shown["vector_head"] = [
            round(float(x), 6) for x in fingerprints.vectors[row, :SHOWN_VALUES]
        ]
    return shown


def _similarities(
    family: str, fingerprints: Fingerprints, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    each = [fingerprints.take(np.array([row], np.int64)) for row in range(len(names))]
    for name in registry.similarity_names():
        form = registry.fitting_form(family, name)
        if form is None:
            continue
        similarity = registry.similarity(name).fitted(fingerprints)
        found: dict[str, Any] = {"similarity": name, "form": form}
        reason = None
        for i, j in combinations(range(len(names)), 2):
            why = _too_long(name, form, each[i], each[j])
            reason = reason or why
            value = None if why else _number(float(similarity.matrix(each[i], each[j], form)[0, 0]))
            found[f"{names[i]}-{names[j]}"] = value
        yield {**found, "reason": reason}


def _too_long(name: str, form: Form, *pair: Fingerprints) -> str | None:
    if name != "levenshtein" or form != "sequence":
        return None
    longest = max(0 if one.hashes is None else len(one.hashes.values) for one in pair)
    if longest <= LONGEST_SEQUENCE:
        return None
    return f"{longest:,} hashes in a row: levenshtein compares at most {LONGEST_SEQUENCE:,} here"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
