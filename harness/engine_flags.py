"""Flags of a study that engines alone read: how an index is kept, filled and asked."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, field_validator

from harness.config_values import Names, Number, Whole, listed, split
from harness.filters import asked
from indexers.errors import SettingError
from indexers.index_types import Layout

VectorType = Literal["bit", "float", "byte", "int8", "int4", "bbq"]
KnnEngine = Literal["lucene", "faiss"]
Fetch = Literal["ids", "source"]


def _interval(value: str) -> str:
    if not re.fullmatch(r"-1|[1-9]\d*(ms|s|m)", value):
        raise ValueError(f"expected a time such as 500ms, 1s or 2m, or -1, not {value!r:.60}")
    return value


Interval = Annotated[str, AfterValidator(_interval)]
_Split = BeforeValidator(split)
_AtLeastOne = Field(min_length=1)
ZIPF_EXPONENT = 1.0
REFRESHED_MEANWHILE = "1s"


def known_replay(value: str) -> str:
    """The replay, if it is one.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch(r"unique|zipf(:\d{1,2}(\.\d+)?)?", value):
        raise ValueError(f"expected unique, zipf or zipf:S such as zipf:1.1, not {value!r:.60}")
    return value


def exponent_of(replay: str) -> float | None:
    """Of a replay by Zipf's law; None where every query is asked alike."""
    head, _, number = replay.partition(":")
    return None if head == "unique" else float(number or ZIPF_EXPONENT)


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
        indexing_rate: documents a second that are indexed again while an index is measured,
            and visible after a second unless `refresh_interval` says otherwise; None for a quiet
            index.
        patience: seconds that an engine that goes away is waited for, before its trials have
            failed.
        filter: `FIELD=VALUE`, `FIELD=LOW..HIGH` or `FIELD=SHARE%` each, `none` for the rows without
            one (`harness.filters`); backends in process have it too. Empty for no filter.
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
    patience: Number = Field(default=120, ge=0, le=86_400)
    filter: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()

    @field_validator("filter")
    @classmethod
    def _understood(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        found: list[str] = []
        for text in value:
            try:
                asked(text)
            except SettingError as error:
                found += error.problems
        if found:
            raise ValueError("\n".join(found))
        return value

    @field_validator("replay")
    @classmethod
    def _known_replay(cls, value: str) -> str:
        return known_replay(value)

    @property
    def zipf_exponent(self) -> float | None:
        """Of the replay; None where every query is asked alike."""
        return exponent_of(self.replay)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """Every way to keep an index that is measured, in a fixed order."""
        usual = Layout()
        return tuple(
            Layout(shards, replicas, codec, refresh_interval, translog, segments)
            for shards in self.shards or (usual.shards,)
            for replicas in self.replicas or (usual.replicas,)
            for codec in self.codec or (usual.codec,)
            for refresh_interval in self.refresh_interval or (self._usual_refresh(usual),)
            for translog in self.translog or (usual.translog,)
            for segments in (self.segments if self.segments is not None else (usual.segments,))
        )

    def _usual_refresh(self, usual: Layout) -> str:
        """What is indexed meanwhile is to be seen meanwhile."""
        return usual.refresh_interval if self.indexing_rate is None else REFRESHED_MEANWHILE
