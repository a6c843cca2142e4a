"""Flags and YAML into one typed study; every mistake is listed with its path.

A YAML file holds the same names as the flags, with underscores. Flags win over it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from harness.measures.names import parse_measure
from indexers.address import address, masked
from indexers.errors import SettingError
from indexers.registry import backend_names, family, family_names

DEFAULT_SAMPLES = 1000
THOROUGH_SAMPLES = 10_000
ALL = "all"
"""Key of the sizes that hold for every family not named itself."""


def _split(value: object) -> object:
    """A comma-separated flag as a list; YAML lists and single values as they are."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [value]
    return value


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    return value


def _sizes(value: object) -> object:
    """`8,12`, `[8, 12]`, `minhash=2,4`, several of these, or a mapping, as a mapping."""
    if isinstance(value, Mapping):
        return {str(name): _split(sizes) for name, sizes in value.items()}
    parts = value if isinstance(value, (list, tuple)) else [value]
    by_family: dict[str, list[object]] = {}
    for part in parts:
        name, separator, rest = str(part).partition("=")
        target, sizes = (name.strip(), rest) if separator else (ALL, part)
        split = _split(sizes)
        if not isinstance(split, list):
            raise ValueError("expected whole numbers separated by commas")
        by_family.setdefault(target, []).extend(split)
    return by_family


Number = Annotated[float, BeforeValidator(_no_bool)]
Whole = Annotated[int, BeforeValidator(_no_bool)]
Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_split), Field(min_length=1)]
Sizes = Annotated[dict[str, tuple[Whole, ...]], BeforeValidator(_sizes)]


class StudyConfig(BaseModel):
    """One study, checked.

    Attributes:
        sla_ms: latency limit in ms, above 0.
        sla_stat: the statistic that it binds.
        objective: measure to maximise; None chooses nDCG with judgments, else ANNRecall.
        tolerance: objectives within this of the best count as equal.
        num_tables, hash_length: family (or `all`) -> sizes to sweep; empty for the defaults.
        rate: open-loop requests a second; None for 1,000 in process and 100 on engines.
        samples: measured requests a trial; None for 1,000, or 10,000 with `thorough`.
        burst_s: closed-loop burst; None for 0.5 s in process and 3 s on engines.
        out: folder of the study; None for `reports/<study>`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sla_ms: Number = Field(gt=0, allow_inf_nan=False)
    sla_stat: Literal["p99", "p95", "p90", "p50", "mean"] = "p99"
    objective: str | None = None
    tolerance: Number = Field(default=0.005, ge=0, le=1)
    cutoff: Whole = Field(default=10, ge=1, le=1000)
    relevant_from: Number | None = Field(default=None, gt=0, allow_inf_nan=False)
    corpus: str = Field(default="catalogue:20000", min_length=1)
    fields: Names | None = None
    backend: Names = ("tables", "faiss")
    family: Names = ("simhash", "minhash")
    num_tables: Sizes = Field(default_factory=dict)
    hash_length: Sizes = Field(default_factory=dict)
    rerank: Names = ("code",)
    build: Literal["shared", "per-setting"] = "shared"
    rate: Number | None = Field(default=None, gt=0, le=100_000)
    users: Whole = Field(default=4, ge=1, le=256)
    samples: Whole | None = Field(default=None, ge=1, le=1_000_000)
    burst_s: Number | None = Field(default=None, ge=0, le=600)
    thorough: bool = False
    seed: Whole = Field(default=123, ge=0, le=2**31 - 1)
    opensearch_url: str | None = None
    out: Path | None = None

    @field_validator("family")
    @classmethod
    def _known_families(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known(value, family_names(), "family")

    @field_validator("backend")
    @classmethod
    def _known_backends(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known(value, backend_names(), "backend")

    @field_validator("rerank")
    @classmethod
    def _known_reranks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known(value, ("code", "signature"), "rerank")

    @field_validator("out", mode="before")
    @classmethod
    def _folder(cls, value: object) -> object:
        if value == "":
            raise ValueError("expected the path of a folder")
        return value

    @field_validator("opensearch_url")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                address("opensearch", value)
            except SettingError as error:
                raise ValueError(str(error)) from None
        return value

    @model_validator(mode="after")
    def _consistent(self) -> StudyConfig:
        problems = [*self._size_problems("num_tables"), *self._size_problems("hash_length")]
        if "opensearch" in self.backend and not self.opensearch_url:
            problems.append(
                "backend opensearch needs --opensearch-url URL or HARNESS_OPENSEARCH_URL"
            )
        if self.objective is not None:
            try:
                parse_measure(self.objective, self.cutoff)
            except SettingError as error:
                problems.append(str(error))
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _size_problems(self, name: Literal["num_tables", "hash_length"]) -> list[str]:
        given: dict[str, tuple[int, ...]] = getattr(self, name)
        problems = [
            f"{name}: {key!r} is not a family; choose from {', '.join(family_names())}"
            for key in given
            if key != ALL and key not in family_names()
        ]
        problems += [f"{name}: give at least one size" for sizes in given.values() if not sizes]
        for family_name in self.family:
            limit = getattr(family(family_name), f"max_{name}")
            for size in given.get(family_name, given.get(ALL, ())):
                if not 1 <= size <= limit:
                    problems.append(f"{name}: {family_name} takes 1 to {limit}, not {size}")
        return problems

    def sizes(self, name: Literal["num_tables", "hash_length"], of: str) -> tuple[int, ...]:
        """The sizes that this family is swept over, ascending."""
        given: dict[str, tuple[int, ...]] = getattr(self, name)
        chosen = given.get(of) or given.get(ALL)
        if not chosen:
            defaults = {"num_tables": "default_num_tables", "hash_length": "default_hash_lengths"}
            chosen = getattr(family(of), defaults[name])
        return tuple(sorted(set(chosen)))

    @property
    def measured_samples(self) -> int:
        """Requests measured in a trial, before raising to one a query."""
        return self.samples or (THOROUGH_SAMPLES if self.thorough else DEFAULT_SAMPLES)


def _known(value: tuple[str, ...], allowed: tuple[str, ...], what: str) -> tuple[str, ...]:
    unknown = [name for name in value if name not in allowed]
    if unknown:
        names = ", ".join(repr(name) for name in unknown)
        raise ValueError(f"{what} {names} is unknown: choose from {', '.join(allowed)}")
    return tuple(dict.fromkeys(value))


def read_config(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        SettingError: it is missing, unreadable, not YAML or not a mapping.
    """
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(
            f"configuration {path}: {error.strerror or error}; name an existing YAML file"
        ) from error
    except UnicodeDecodeError as error:
        raise SettingError(f"configuration {path}: not a text file; give YAML in UTF-8") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" line {where.line + 1}" if where else ""
        reason = getattr(error, "problem", None) or "not YAML"
        raise SettingError(f"configuration {path}{line}: {reason}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise SettingError(f"configuration {path}: expected `name: value` lines, one a setting")
    return {str(key): value for key, value in loaded.items()}


def study_config(flags: Mapping[str, Any], config: Path | None = None) -> StudyConfig:
    """Flags over the YAML file over the environment over the defaults.

    Raises:
        SettingError: with every problem found.
    """
    given = str(flags.get("opensearch_url") or "")
    if given != masked(given):
        raise SettingError(
            "--opensearch-url: credentials on a command line are seen by others; put the whole "
            "URL into HARNESS_OPENSEARCH_URL, or as opensearch_url into a --config file"
        )
    values: dict[str, Any] = {}
    if url := os.environ.get("HARNESS_OPENSEARCH_URL"):
        values["opensearch_url"] = url
    if config is not None:
        values |= read_config(config)
    values |= {name: value for name, value in flags.items() if value not in (None, ())}
    try:
        return StudyConfig.model_validate(values)
    except ValidationError as error:
        raise SettingError(*_problems(error, flags)) from None


def _problems(error: ValidationError, flags: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for entry in error.errors():
        path = ".".join(str(part) for part in entry["loc"])
        message = entry["msg"].removeprefix("Value error, ")
        if entry["type"] == "extra_forbidden":
            near = get_close_matches(path.replace("-", "_"), StudyConfig.model_fields, 1)
            allowed = f"did you mean {near[0]}?" if near else ", ".join(StudyConfig.model_fields)
            lines.append(f"{path}: unknown setting; {'' if near else 'known are '}{allowed}")
        elif entry["type"] == "missing":
            lines.append("sla_ms: missing; give the latency limit, such as --sla-ms 100")
        elif not path:
            lines.extend(message.split("\n"))
        else:
            name = _shown(path, flags)
            message = _expected(entry["type"], entry.get("ctx", {})) or message
            given = "" if entry["type"] == "value_error" else f", not {_short(entry['input'])}"
            lines.append(f"{name}: {message[:1].lower()}{message[1:]}{given}")
    return lines


def _expected(kind: str, bounds: Mapping[str, Any]) -> str | None:
    """What a value should have been, in words of this tool."""
    limits = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    for name, words in limits.items():
        if name in bounds:
            return f"expected a number {words} {bounds[name]:g}"
    return {
        "int_parsing": "expected a whole number",
        "int_type": "expected a whole number",
        "int_from_float": "expected a whole number",
        "float_parsing": "expected a number",
        "float_type": "expected a number",
        "finite_number": "expected a finite number",
        "tuple_type": "expected names separated by commas",
        "too_short": "expected at least one name",
        "string_too_short": "expected a name",
        "string_type": "expected a text",
        "path_type": "expected the path of a folder",
        "bool_type": "expected true or false",
        "bool_parsing": "expected true or false",
    }.get(kind)


def _shown(path: str, flags: Mapping[str, Any]) -> str:
    head, _, rest = path.partition(".")
    name = f"--{head.replace('_', '-')}" if flags.get(head) not in (None, ()) else head
    place = rest.removeprefix(f"{ALL}.")
    return f"{name} ({place})" if place else name


def _short(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
