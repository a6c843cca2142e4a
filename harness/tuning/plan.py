"""What a study will measure, under which name, and what of it is still missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from harness.config import StudyConfig
from harness.filters import attributes_of, filters_of
from harness.settings import ATTACHED, OPTIONAL, Setting
from harness.tuning import production
from harness.tuning.hashing import hashing_of
from harness.tuning.space import NESTED, Point, space, sweep_of
from harness.tuning.trial import Trial
from indexers.address import address
from indexers.normaliser import NORMALISER
from indexers.registry import backend, family
from loadtest.profile import LoadProfile

MEASUREMENT_VERSION = 3
"""Raised whenever a stored row would no longer mean the same."""
RATE_IN_PROCESS, RATE_REMOTE = 1000.0, 100.0
BURST_IN_PROCESS_S, BURST_REMOTE_S = 0.5, 3.0
LONGEST_TIMEOUT_S = 600.0
OVERHEAD_S = 0.4
"""Opening, warm-up and scoring of one trial."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A point of the space with the key of its row."""

    key: str
    point: Point


@dataclass(frozen=True, slots=True)
class Plan:
    """A study before it runs.

    Attributes:
        name: corpus and 8 hex digits of all that a row depends on.
        folder: where it is kept.
        trials: in the order of measuring.
        impossible: (reason, count) of the settings that do not exist.
        dimension: D of the vectors; None where none are hashed.
    """

    name: str
    folder: Path
    trials: tuple[Planned, ...]
    impossible: tuple[tuple[str, int], ...]
    dimension: int | None = None

    def missing(self, stored: Mapping[str, Trial], timeout_s: float) -> tuple[Planned, ...]:
        """Trials without a usable row: none, failed, or timed out under a shorter limit."""
        return tuple(p for p in self.trials if not _usable(stored.get(p.key), timeout_s))


@dataclass(frozen=True, slots=True)
class VectorsId:
    """Vectors without their values: what they depend on, and D."""

    content: str
    dimension: int


def make_plan(
    config: StudyConfig, corpus_name: str, corpus_content: str, vectors: VectorsId | None = None
) -> Plan:
    """The plan of this configuration over this corpus.

    Args:
        config: the study.
        corpus_name: for the name of the study.
        corpus_content: hash of documents, queries, judgments and fields.
        vectors: of the documents and queries; None where no family hashes any.

    Raises:
        SettingError: a family cannot serve a size that was asked for.
    """
    dimension = None if vectors is None else vectors.dimension
    wanted = space(config, dimension)
    common = _common(config, corpus_content)
    if vectors is not None:
        common["vectors"] = vectors.content
    trials = tuple(Planned(_key(common, config, p.setting, dimension), p) for p in wanted.points)
    study = {**common, "trials": sorted(t.key for t in trials)}
    name = f"{corpus_name}-{_digest(study, 4)}"
    folder = config.out or Path("reports") / name
    return Plan(name, folder, trials, wanted.impossible, dimension)


def load_profile(config: StudyConfig, backend_name: str, queries: int = 0) -> LoadProfile:
    """The load that trials on this backend get.

    Args:
        config: the study.
        backend_name: in process or remote decides the defaults.
        queries: runnable queries, each of which is measured at least once.
    """
    remote = backend(backend_name).remote
    burst_s = BURST_REMOTE_S if remote else BURST_IN_PROCESS_S
    return LoadProfile(
        rate_per_s=config.rate or (RATE_REMOTE if remote else RATE_IN_PROCESS),
        samples=max(config.measured_samples, queries),
        burst_s=burst_s if config.burst_s is None else config.burst_s,
        users=config.users,
        seed=config.seed,
        timeout_s=timeout_s(config),
        zipf_exponent=config.zipf_exponent,
    )


def timeout_s(config: StudyConfig) -> float:
    """A request beyond this counts as failed: ten times the limit, a second to ten minutes."""
    return min(max(10 * config.sla_ms / 1000, 1.0), LONGEST_TIMEOUT_S)


def expected_s(config: StudyConfig, missing: tuple[Planned, ...], queries: int) -> float:
    """About how long measuring these trials takes, building apart."""
    total = 0.0
    for planned in missing:
        profile = load_profile(config, planned.point.setting.backend, queries)
        total += profile.samples / profile.rate_per_s + profile.burst_s + OVERHEAD_S
    return total


def _common(config: StudyConfig, corpus_content: str) -> dict[str, object]:
    # an index holds them for all rows of the study, those without a filter too
    attributes = attributes_of(filters_of(config.filter))
    return {
        "version": MEASUREMENT_VERSION,
        "corpus": corpus_content,
        "normaliser": NORMALISER,
        "cutoff": config.cutoff,
        "relevant_from": config.relevant_from,
        "build": config.build,
        "seed": config.seed,
        "users": config.users,
        "reference": config.compared_by,
        **({"attributes": attributes} if attributes else {}),
    }


def _key(
    common: dict[str, object], config: StudyConfig, setting: Setting, dimension: int | None
) -> str:
    profile = load_profile(config, setting.backend)
    content = {
        **common,
        "setting": _content(setting),
        "family_version": None if setting.family is None else family(setting.family).version,
        "rate_per_s": profile.rate_per_s,
        "samples": profile.samples,
        "burst_s": profile.burst_s,
        "server": server(config, setting.backend),
        # a shared build's size and latency depend on what else it carries
        "shared_with": _grid(config, setting, dimension) if config.build == "shared" else None,
        **production.content(config, setting),
    }
    if setting.kind == ATTACHED and config.id_field is not None:
        content["id_field"] = config.id_field
    return _digest(content, 8)


def _content(setting: Setting) -> dict[str, object]:
    """What a key says of a setting; a field that need not be there is said where it is."""
    content = asdict(setting)
    return {name: v for name, v in content.items() if name not in OPTIONAL or v is not None}


def _grid(
    config: StudyConfig, setting: Setting, dimension: int | None
) -> list[tuple[int, ...]] | None:
    hashing = hashing_of(setting)
    if hashing is None or setting.kind != NESTED:
        return None
    sweep = sweep_of(config, hashing.family, dimension)
    counts = sweep.num_tables if hashing.num_tables is None else (hashing.num_tables,)
    return [counts, sweep.hash_lengths]


def server(config: StudyConfig, backend_name: str) -> str | None:
    """Where a remote index lives, without credentials."""
    if not backend(backend_name).remote:
        return None
    to = address(backend_name, getattr(config, f"{backend_name}_url"))
    return f"{to.host}:{to.port}{to.path}"


def _usable(trial: Trial | None, timeout_s: float) -> bool:
    if trial is None or trial.status != "ok":
        return False
    return not trial.errors or trial.timeout_s is None or trial.timeout_s >= timeout_s


def _digest(content: object, size: int) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=size).hexdigest()
