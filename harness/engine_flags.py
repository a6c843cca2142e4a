"""Flags of a study that engines alone read: how an index is kept, filled and asked."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, field_validator

from harness.config_values import Names, Number, Whole, listed, split
from indexers.index_types import Layout

VectorType = Literal["bit", "float", "byte", "int8", "int4", "bbq"]
KnnEngine = Literal["lucene", "faiss"]
Fetch = Literal["ids", "source"]
Interval = Annotated[str, StringConstraints(pattern=r"^(-1|[1-9]\d*(ms|s|m))$")]
_Split = BeforeValidator(split)
_AtLeastOne = Field(min_length=1)
ZIPF_EXPONENT = 1.0


class EngineFlags(BaseModel):
    """What only engines have; several values of one are swept.

    Attributes:
        shards, replicas, codec, refresh_interval, translog, segments: as
            `indexers.index_types.Layout`; None for its usual value.
        vector_type: of `hnsw`, and of a native `flat` where it is given; None for the usual one.
        knn_engine: of OpenSearch's `hnsw`; None for lucene.
        window_size: of rerank `window`; None for its usual value.
        fetch: what answers bring along: `ids`, `source` (the documents too), or both in turn.
        replay: `unique` asks every query alike; `zipf`, or `zipf:S`, some far more often than
            others, by a Zipf law of exponent S.
        indexing_rate: documents a second that are indexed again while an index is measured;
            None for a quiet one.
        filter: `FIELD=VALUE`, `FIELD=LOW..HIGH` or `FIELD=SHARE%` each; empty for none.
    """

    shards: (
        Annotated[tuple[Annotated[Whole, Field(ge=1, le=1024)], ...], _Split, _AtLeastOne] | None
    ) = None
    replicas: (
        Annotated[tuple[Annotated[Whole, Field(ge=0, le=20)], ...], _Split, _AtLeastOne] | None
    ) = None
    codec: Names | None = None
    refresh_interval: Annotated[tuple[Interval, ...], _Split, _AtLeastOne] | None = None
    translog: Annotated[tuple[Literal["async", "request"], ...], _Split, _AtLeastOne] | None = None
    segments: (
        Annotated[tuple[Annotated[Whole, Field(ge=0, le=1000)], ...], _Split, _AtLeastOne] | None
    ) = None
    vector_type: Annotated[tuple[VectorType, ...], _Split, _AtLeastOne] | None = None
    knn_engine: Annotated[tuple[KnnEngine, ...], _Split, _AtLeastOne] | None = None
    window_size: (
        Annotated[tuple[Annotated[Whole, Field(ge=1, le=10_000)], ...], _Split, _AtLeastOne] | None
    ) = None
    fetch: Annotated[tuple[Fetch, ...], _Split, _AtLeastOne] = ("ids",)
    replay: str = "unique"
    indexing_rate: Number | None = Field(default=None, gt=0, le=100_000)
    filter: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()

    @field_validator("replay")
    @classmethod
    def _known_replay(cls, value: str) -> str:
        if not re.fullmatch(r"unique|zipf(:\d{1,2}(\.\d+)?)?", value):
            raise ValueError(f"expected unique, zipf or zipf:S such as zipf:1.1, not {value!r:.60}")
        return value

    @property
    def zipf_exponent(self) -> float | None:
        """Of the replay; None where every query is asked alike."""
        head, _, number = self.replay.partition(":")
        return None if head == "unique" else float(number or ZIPF_EXPONENT)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """Every way to keep an index that is measured, in a fixed order."""
        usual = Layout()
        return tuple(
            Layout(shards, replicas, codec, refresh_interval, translog, segments)
            for shards in self.shards or (usual.shards,)
            for replicas in self.replicas or (usual.replicas,)
            for codec in self.codec or (usual.codec,)
            for refresh_interval in self.refresh_interval or (usual.refresh_interval,)
            for translog in self.translog or (usual.translog,)
            for segments in (self.segments if self.segments is not None else (usual.segments,))
        )
