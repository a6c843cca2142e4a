"""Flags of a study that were given and that nothing in it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from harness.config import StudyConfig
from harness.config_sizes import GRAPH
from harness.engines import ENGINES
from harness.settings import PLAIN
from harness.tuning.space import FLAT
from indexers.index_types import Layout
from indexers.registry import family


def without_effect(config: StudyConfig) -> Iterator[str]:
    """A line for each flag that was given and that no family of the study reads."""
    families = [family(name) for name in config.family]
    read = {field for made in families for field in made.reads}
    given = {
        "num_tables": bool(config.num_tables) and not any(f.max_num_tables for f in families),
        "hash_length": bool(config.hash_length) and not any(f.max_hash_length for f in families),
        "bits": bool(config.bits) and not any("bits" in f.forms for f in families),
        "shingle_size": bool(config.shingle_size) and "shingle_size" not in read,
        "window": bool(config.window) and "window" not in read,
        "unit": config.unit != PLAIN.unit and "unit" not in read,
        "weighting": config.weighting != PLAIN.weighting and "weighting" not in read,
        "rerank": config.rerank != ("code",) and not any("bits" in f.forms for f in families),
    }
    for name, idle in given.items():
        if idle:
            flag = f"--{name.replace('_', '-')}"
            yield f"{flag} is without effect: no family of this study reads it"
    yield from _only_engines(config)
    yield from _idle_types(config)


def _only_engines(config: StudyConfig) -> Iterator[str]:
    """A line for each flag that was given and that backends in process do not read."""
    inside = [name for name in config.backend if name not in ENGINES]
    given = {"fetch": config.fetch != ("ids",), "indexing-rate": config.indexing_rate is not None}
    for name, asked in given.items():
        if asked and inside:
            yield f"--{name} is without effect on {', '.join(inside)}: only engines have it"
        if asked and config.attach is not None:
            yield f"--{name} is without effect on the attached index: it is only asked, as it is"
    if len(inside) == len(config.backend):
        for field in fields(Layout):
            if getattr(config, field.name) is not None:
                flag = f"--{field.name.replace('_', '-')}"
                yield f"{flag} is without effect: no engine is in this study"


def _idle_types(config: StudyConfig) -> Iterator[str]:
    """A line for each vector type, and for libraries of graphs, where nothing is held so."""
    kinds = {name: config.kinds_on(name) for name in config.backend if name in ENGINES}
    if config.knn_engine and GRAPH not in kinds.get("opensearch", ()):
        yield f"--knn-engine is without effect: no {GRAPH} on opensearch is measured"
    asked = config.vector_type or ()
    if asked and not any({GRAPH, FLAT} & set(held) for held in kinds.values()):
        yield f"--vector-type is without effect: no {GRAPH} or {FLAT} of an engine is measured"
        return
    reranks = {family(name).reranks[0] for name in config.family}
    if "bit" in asked and "code" not in reranks:
        yield "--vector-type bit is without effect: no family of this study has a code"
    others = [name for name in asked if name != "bit"]
    if others and "cosine" not in reranks:
        yield (
            f"--vector-type {','.join(others)} is without effect: no family of this study is "
            "searched by its vectors, as bge is"
        )
