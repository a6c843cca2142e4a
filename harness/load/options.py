"""What `harness load` is asked for, checked; every mistake is listed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from harness.access import ACCESS, engine_access
from harness.config_problems import problems
from harness.config_values import Number, Whole
from harness.engine_flags import known_replay
from harness.engines import ENGINES
from indexers.errors import SettingError
from indexers.index_name import checked_name
from indexers.index_types import BackendConfig

MOST_REQUESTS = 10_000_000
DURATION_S = 30.0


class LoadOptions(BaseModel):
    """One load, checked.

    Attributes:
        study: folder of the study one of whose settings is driven.
        key: of that trial, or its first digits; None for the pick.
        index: name of someone else's index to drive instead.
        queries: JSONL file of what it is asked.
        body: JSON file of a search body with `{{text}}` where a query's text goes; None where
            `queries` holds the bodies themselves.
        sla_ms, sla_stat: the limit; None for the study's.
        rate: requests a second; None for the study's.
        users: of the closed-loop burst and, with `web`, of the page's rate; None for the
            study's.
        replay: as `EngineFlags.replay`; None for the study's, or `unique`.
        duration: of the load in seconds; None for 30, and for no end with `web`.
        web: let a person put the load from Locust's page.
        web_port: of that page; 0 for a free one.
        access: engine -> how it is reached.
        named: `opensearch_url` or `elasticsearch_url`, where it came by flag.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: Path | None = None
    key: str | None = Field(default=None, min_length=1)
    index: str | None = None
    queries: Path | None = None
    body: Path | None = None
    sla_ms: Number | None = Field(default=None, gt=0, allow_inf_nan=False)
    sla_stat: Literal["p99", "p95", "p90", "p50", "mean"] | None = None
    rate: Number | None = Field(default=None, gt=0, le=100_000)
    users: Whole | None = Field(default=None, ge=1, le=256)
    replay: Annotated[str, AfterValidator(known_replay)] | None = None
    duration: Number | None = Field(default=None, gt=0, le=86_400)
    web: bool = False
    web_port: Whole = Field(default=8089, ge=0, le=65_535)
    access: dict[str, BackendConfig] = Field(default_factory=dict, exclude=True)
    named: tuple[str, ...] = ()

    @field_validator("index")
    @classmethod
    def _name_of_one(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                checked_name(value)
            except SettingError as error:
                raise ValueError(str(error)) from None
        return value

    @model_validator(mode="after")
    def _consistent(self) -> LoadOptions:
        found = []
        if (self.study is None) == (self.index is None):
            found.append(
                "give either --study DIR (the folder of a study) or --index NAME (an index of "
                "your own, with --queries)"
            )
        elif self.index is None:
            given = {"--queries": self.queries, "--body": self.body}
            found += [f"{n}: belongs to --index" for n, value in given.items() if value is not None]
        else:
            if self.queries is None:
                found.append("--index needs --queries FILE.jsonl: what is asked")
            if self.key is not None:
                found.append("--key: belongs to --study")
        if found:
            raise ValueError("\n".join(found))
        return self

    @property
    def duration_s(self) -> float:
        """Of a load that is not a person's."""
        return self.duration or DURATION_S

    def requests(self, rate_per_s: float) -> int:
        """How many are sent at this rate.

        Raises:
            SettingError: more than are kept in memory.
        """
        count = max(1, round(rate_per_s * self.duration_s))
        if count > MOST_REQUESTS:
            raise SettingError(
                f"{count:,} requests are more than {MOST_REQUESTS:,}: choose a lower --rate or a "
                "shorter --duration"
            )
        return count


def load_options(flags: Mapping[str, Any]) -> LoadOptions:
    """The options of these flags.

    Raises:
        SettingError: with every problem found.
    """
    named = tuple(f"{engine}_url" for engine in ENGINES if flags.get(f"{engine}_url"))
    access = engine_access(flags)
    if named:  # an index is on the server that was named, whatever the environment knows
        access = {name: one for name, one in access.items() if f"{name}_url" in named}
    values = {n: v for n, v in flags.items() if n not in ACCESS and v not in (None, (), False)}
    try:
        return LoadOptions.model_validate({**values, "access": access, "named": named})
    except ValidationError as error:
        raise SettingError(*problems(error, LoadOptions, flags)) from None
