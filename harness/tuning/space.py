"""The settings of a study: the sweep, its baselines, and what does not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.config import StudyConfig
from harness.config_sizes import GRAPH
from harness.engines import ENGINES
from harness.filters import filters_of
from harness.settings import PLAIN, TEXT_KINDS, Setting, with_layout
from harness.tuning.attached_settings import attached_settings
from harness.tuning.hashing import Hashing, size_problems
from harness.tuning.specs import params_of, spec_of
from indexers.errors import SettingError
from indexers.graph import SWEPT_EF_SEARCH, USUAL_EF_CONSTRUCTION, USUAL_M
from indexers.protocols import Family, Sweep
from indexers.registry import backend, family
from indexers.reranks import COLLISION_RERANKS, WINDOWED

NESTED = "lsh"
"""The kind whose one build serves every smaller setting."""
TABLED = ("lsh", "multihash")
"""Kinds with num_tables and hash_length."""
SWEPT = (*TABLED, "tokens", GRAPH)
TEXT, FLAT = "bm25", "flat"
USUAL_WINDOW_SIZE = 100
"""Candidates that rerank `window` looks at unless told otherwise."""


_FETCHED = {"ids": None, "source": "source"}


@dataclass(frozen=True, slots=True)
class Point:
    """A setting to measure and whether it is a baseline."""

    setting: Setting
    baseline: bool


@dataclass(frozen=True, slots=True)
class Space:
    """What a study measures.

    Attributes:
        points: grouped by hashing, backend and kind.
        impossible: (reason, how many settings), the settings that do not exist.
    """

    points: tuple[Point, ...]
    impossible: tuple[tuple[str, int], ...]


def space(config: StudyConfig, dimension: int | None = None) -> Space:
    """Every point of the study in the order in which it is measured.

    Args:
        config: the study.
        dimension: D of the vectors; None where no family hashes any.

    Raises:
        SettingError: a family cannot serve a size that was asked for.
    """
    points: list[Point] = []
    refused: dict[str, list[str]] = {}
    problems: dict[str, None] = {}
    for point in _all(config, dimension):
        setting = point.setting
        problems |= dict.fromkeys(size_problems(setting, config.seed, dimension))
        reason = None if problems else _impossible(setting, config.cutoff, dimension)
        if reason is None:
            points.append(point)
        else:
            place = f"{setting.family} as {setting.kind} on {setting.backend}"
            refused.setdefault(place, []).append(reason)
    if problems:
        raise SettingError(*problems)
    points += [Point(setting, baseline=False) for setting in attached_settings(config)]
    impossible = [
        (f"{place}, such as: {reasons[0]}", len(reasons)) for place, reasons in refused.items()
    ]
    return Space(tuple(points), (*impossible, *_absent(config)))


def sweep_of(config: StudyConfig, family_name: str, dimension: int | None) -> Sweep:
    """The table sizes that this family is swept over: as asked for, else its defaults."""
    made = family(family_name)
    default = made.sweep(dimension)
    if not made.max_num_tables:
        return default
    return replace(
        default,
        num_tables=config.given("num_tables", family_name) or default.num_tables,
        hash_lengths=config.given("hash_length", family_name) or default.hash_lengths,
    )


def _all(config: StudyConfig, dimension: int | None) -> Iterator[Point]:
    if config.only_attached:
        return
    for family_name in config.family:
        made, sweep = family(family_name), sweep_of(config, family_name, dimension)
        for hashing in _hashings(config, made, sweep):
            for backend_name in config.backend:
                for kind in config.kinds_on(backend_name):
                    if kind in made.kinds:
                        points = list(_of_kind(config, hashing, sweep, backend_name, kind))
                        yield from _kept(config, backend_name, points)
    for backend_name in config.backend:
        for kind in config.kinds_on(backend_name):
            if kind in TEXT_KINDS:
                text = Point(Setting(None, backend_name, kind), baseline=True)
                yield from _kept(config, backend_name, [text])


def _kept(config: StudyConfig, backend_name: str, points: Sequence[Point]) -> Iterator[Point]:
    """The points on every layout of an engine's index, by what answers bring along and must have.

    What one index serves comes one after another.
    """
    filters = filters_of(config.filter)
    if backend_name not in ENGINES:
        for point, filter_ in product(points, filters):
            yield replace(point, setting=replace(point.setting, filter=filter_))
        return
    for layout, point, fetch, filter_ in product(config.layouts, points, config.fetch, filters):
        setting = with_layout(point.setting, layout)
        asked = replace(setting, fetch=_FETCHED[fetch], filter=filter_)
        yield replace(point, setting=asked)


def _hashings(config: StudyConfig, made: Family, sweep: Sweep) -> Iterator[Hashing]:
    """One for each fingerprint of a document that the study needs."""
    reads = made.reads
    widths: Sequence[int | None] = config.given("bits", made.name) or (sweep.bits,)
    tables: Sequence[int | None] = (None,) if made.nested else sweep.num_tables or (None,)
    sizes: Sequence[int | None] = config.given("shingle_size", made.name) or (PLAIN.shingle_size,)
    windows: Sequence[int | None] = config.given("window", made.name) or (PLAIN.window,)
    for bits, num_tables, size, window in product(
        widths if sweep.bits else (None,),
        tables,
        sizes if "shingle_size" in reads else (None,),
        windows if "window" in reads else (None,),
    ):
        yield Hashing(
            made.name,
            bits,
            num_tables,
            size,
            config.unit if "unit" in reads else None,
            config.weighting if "weighting" in reads else None,
            window,
        )


def _of_kind(
    config: StudyConfig, hashing: Hashing, sweep: Sweep, backend_name: str, kind: str
) -> Iterator[Point]:
    reranks = _reranks(config, family(hashing.family))
    # where there are no tables, none can be counted
    plain = next((name for name in reranks if name not in COLLISION_RERANKS), "code")
    if kind == GRAPH:
        yield from _graphs(config, hashing, backend_name, plain)
        return
    if kind not in TABLED:
        setting = hashing.setting(backend_name, kind, hashing.num_tables, None, plain)
        for vector_type in _flat_types(config, hashing, backend_name, kind):
            yield Point(replace(setting, vector_type=vector_type), baseline=kind not in SWEPT)
        return
    counts = sweep.num_tables if hashing.num_tables is None else (hashing.num_tables,)
    for rerank, tables, length in product(reranks, counts, sweep.hash_lengths):
        setting = hashing.setting(backend_name, kind, tables, length, rerank)
        for window_size in _window_sizes(config, rerank):
            yield Point(replace(setting, window_size=window_size), baseline=False)


def _window_sizes(config: StudyConfig, rerank: str) -> Sequence[int | None]:
    """Ascending, and no fewer than are answered; one None for other re-rankings."""
    if rerank != WINDOWED:
        return (None,)
    asked = config.window_size or (USUAL_WINDOW_SIZE,)
    return sorted({max(size, config.cutoff) for size in asked})


def _flat_types(
    config: StudyConfig, hashing: Hashing, backend_name: str, kind: str
) -> Sequence[str | None]:
    """By a script, and as every type of an engine's own vectors that was asked for."""
    if kind != FLAT or backend_name not in ENGINES:
        return (None,)
    return (None, *_vector_types(config, hashing))


def _vector_types(config: StudyConfig, hashing: Hashing) -> list[str]:
    """The types asked for that such fingerprints have: bits have one, vectors the others."""
    coded = hashing.bits is not None
    return [name for name in config.vector_type or () if (name == "bit") == coded]


def _graphs(
    config: StudyConfig, hashing: Hashing, backend_name: str, rerank: str
) -> Iterator[Point]:
    """Settings that one graph serves come one after another."""
    name = hashing.family
    plain = hashing.setting(backend_name, GRAPH, hashing.num_tables, None, rerank)
    held: Sequence[tuple[str | None, str | None]] = ((None, None),)
    if backend_name in ENGINES:
        engines = config.knn_engine if backend_name == "opensearch" else None
        held = tuple(product(_vector_types(config, hashing) or (None,), engines or (None,)))
    asked = config.given("ef_search", name) or SWEPT_EF_SEARCH
    # a search keeps no fewer candidates than it answers
    widths = sorted({max(width, config.cutoff) for width in asked})
    for (vector_type, knn_engine), m, ef_construction, ef_search in product(
        held,
        config.given("m", name) or (USUAL_M,),
        config.given("ef_construction", name) or (USUAL_EF_CONSTRUCTION,),
        widths,
    ):
        sized = replace(plain, m=m, ef_construction=ef_construction, ef_search=ef_search)
        held_as = replace(sized, vector_type=vector_type, knn_engine=knn_engine)
        yield Point(held_as, baseline=False)


def _reranks(config: StudyConfig, made: Family) -> tuple[str, ...]:
    """As asked for where the family has a code; else by its own similarity."""
    return config.rerank if "code" in made.reranks else made.reranks[:1]


def _impossible(setting: Setting, k: int, dimension: int | None) -> str | None:
    spec = replace(spec_of(setting), dimension=dimension if setting.bits is None else None)
    return backend(setting.backend).impossible(spec, params_of(setting, k))


def _absent(config: StudyConfig) -> Iterator[tuple[str, int]]:
    """What a backend of the study has no kind for: families, or all that was asked for."""
    if config.only_attached:
        return
    for backend_name in config.backend:
        kinds = config.kinds_on(backend_name)
        held = [kind for kind in kinds if kind not in TEXT_KINDS]
        if not kinds:
            all_kinds = ", ".join(backend(backend_name).kinds)
            yield f"{backend_name}, such as: of the kinds asked for, it has none: {all_kinds}", 1
        for family_name in config.family if held else ():
            needed = family(family_name).kinds
            if not set(needed) & set(held):
                yield (
                    f"{family_name} on {backend_name}, such as: {family_name} is searched as "
                    f"{', '.join(needed)}, and {backend_name} {_has(config)} {', '.join(held)}",
                    1,
                )


def _has(config: StudyConfig) -> str:
    return "has" if config.kind is None else "is asked for"
