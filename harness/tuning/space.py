"""The settings of a study: the sweep, its baselines, and what does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.config import StudyConfig
from harness.tuning.trial import Setting
from indexers.registry import backend, family
from indexers.types import IndexSpec, SearchParams

NESTED = "lsh"
"""The kind whose one build serves every smaller setting."""
SWEPT = ("lsh", "multihash")
TEXT = "bm25"


@dataclass(frozen=True, slots=True)
class Point:
    """A setting to measure and whether it is a baseline."""

    setting: Setting
    baseline: bool


@dataclass(frozen=True, slots=True)
class Space:
    """What a study measures.

    Attributes:
        points: grouped by family, backend and kind.
        impossible: (reason, how many settings), the settings that do not exist.
    """

    points: tuple[Point, ...]
    impossible: tuple[tuple[str, int], ...]


def space(config: StudyConfig) -> Space:
    """Every point of the study in the order in which it is measured."""
    points: list[Point] = []
    refused: dict[str, list[str]] = {}
    for point in _all(config):
        setting = point.setting
        reason = _impossible(setting, config.cutoff)
        if reason is None:
            points.append(point)
        else:
            place = f"{setting.family} as {setting.kind} on {setting.backend}"
            refused.setdefault(place, []).append(reason)
    impossible = (
        (f"{place}, such as: {reasons[0]}", len(reasons)) for place, reasons in refused.items()
    )
    return Space(tuple(points), tuple(impossible))


def spec_of(setting: Setting) -> IndexSpec:
    """The smallest index that serves this setting."""
    return IndexSpec(
        backend=setting.backend,
        kind=setting.kind,
        family=setting.family,
        num_tables=setting.num_tables,
        hash_lengths=() if setting.hash_length is None else (setting.hash_length,),
        bits=setting.bits,
    )


def params_of(setting: Setting, k: int) -> SearchParams:
    """How that index is searched for k answers."""
    return SearchParams(
        k=k,
        num_tables=setting.num_tables,
        hash_length=setting.hash_length,
        rerank=setting.rerank or "code",
    )


def _all(config: StudyConfig) -> Iterator[Point]:
    for family_name in config.family:
        for backend_name in config.backend:
            for kind in backend(backend_name).kinds:
                if kind != TEXT:
                    yield from _of_kind(config, family_name, backend_name, kind)
    for backend_name in config.backend:
        if TEXT in backend(backend_name).kinds:
            yield Point(Setting(None, backend_name, TEXT), baseline=True)


def _of_kind(
    config: StudyConfig, family_name: str, backend_name: str, kind: str
) -> Iterator[Point]:
    bits = family(family_name).default_bits

    def setting(tables: int | None, length: int | None, rerank: str = "code") -> Setting:
        return Setting(family_name, backend_name, kind, tables, length, bits, rerank, 3)

    if kind not in SWEPT:
        yield Point(setting(None, None), baseline=True)
        return
    for rerank in config.rerank:
        for tables in config.sizes("num_tables", family_name):
            for length in config.sizes("hash_length", family_name):
                yield Point(setting(tables, length, rerank), baseline=False)


def _impossible(setting: Setting, k: int) -> str | None:
    return backend(setting.backend).impossible(spec_of(setting), params_of(setting, k))
