"""One typed study; every mistake is listed with its path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    field_validator,
    model_validator,
)

from harness.config_problems import ALL
from harness.config_sizes import GRAPH, SIZES, SizeName, size_problems
from harness.config_values import Names, Number, Sizes, Whole
from harness.engine_flags import EngineFlags
from harness.engines import ENGINES, url_variable
from harness.index_flags import IndexFlags, IndexPlace
from harness.measures.names import parse_measure
from harness.settings import ATTACHED, PLAIN
from harness.vector_flags import VectorFlags
from indexers.errors import SettingError
from indexers.graph import RANGES
from indexers.index_types import BackendConfig
from indexers.registry import backend, backend_names, family, family_names
from indexers.reranks import COLLISION_RERANKS
from indexers.types import Unit, Weighting

DEFAULT_SAMPLES = 1000
THOROUGH_SAMPLES = 10_000


Reference = Literal["jaccard", "cosine"]
ON_REQUEST = (GRAPH,)
"""Kinds measured where `--kind` names them, or where a backend has no other."""


class StudyConfig(VectorFlags, EngineFlags, IndexFlags):
    """One study, checked.

    Attributes:
        sla_ms: latency limit in ms, above 0.
        sla_stat: the statistic that it binds.
        objective: measure to maximise; None chooses nDCG with judgments, else ANNRecall.
        tolerance: objectives within this of the best count as equal.
        kind: index kinds that are measured, baselines included; None for all but those on
            request (`ON_REQUEST`).
        num_tables, hash_length, bits, shingle_size, window, m, ef_construction, ef_search:
            family (or `all`) -> sizes to sweep; empty for the defaults.
        reference: similarity of the neighbours; None for `compared_by`'s choice.
        rate: open-loop requests a second; None for 1,000 in process and 100 on engines.
        samples: measured requests a trial; None for 1,000, or 10,000 with `thorough`.
        burst_s: closed-loop burst; None for 0.5 s in process and 3 s on engines.
        opensearch_url, elasticsearch_url: of the servers, without credentials.
        opensearch_ca, elasticsearch_ca: PEM files of the authorities trusted; None for the
            system's.
        credentials: file of credentials (`harness.access_file`).
        verify_tls: whether certificates are looked at.
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
    kind: Names | None = None
    num_tables: Sizes = Field(default_factory=dict)
    hash_length: Sizes = Field(default_factory=dict)
    bits: Sizes = Field(default_factory=dict)
    shingle_size: Sizes = Field(default_factory=dict)
    window: Sizes = Field(default_factory=dict)
    m: Sizes = Field(default_factory=dict)
    ef_construction: Sizes = Field(default_factory=dict)
    ef_search: Sizes = Field(default_factory=dict)
    unit: Unit = PLAIN.unit
    weighting: Weighting = PLAIN.weighting
    rerank: Names = ("code",)
    reference: Reference | None = None
    build: Literal["shared", "per-setting"] = "shared"
    rate: Number | None = Field(default=None, gt=0, le=100_000)
    users: Whole = Field(default=4, ge=1, le=256)
    samples: Whole | None = Field(default=None, ge=1, le=1_000_000)
    burst_s: Number | None = Field(default=None, ge=0, le=600)
    thorough: bool = False
    seed: Whole = Field(default=123, ge=0, le=2**31 - 1)
    opensearch_url: str | None = None
    elasticsearch_url: str | None = None
    opensearch_ca: str | None = None
    elasticsearch_ca: str | None = None
    credentials: str | None = None
    verify_tls: StrictBool = True
    out: Path | None = None
    _access: dict[str, BackendConfig] = PrivateAttr(default_factory=dict)

    @field_validator("family")
    @classmethod
    def _known_families(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        known = _known(value, family_names(), "family")
        compared = [name for name in known if not family(name).kinds]
        if compared:
            names = ", ".join(compared)
            raise ValueError(f"{names}: no index searches it, `harness bench` compares it")
        return known

    @field_validator("backend")
    @classmethod
    def _known_backends(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known(value, backend_names(), "backend")

    @field_validator("rerank")
    @classmethod
    def _known_reranks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # a code and re-ranking all candidates by it are one thing; `code` is its older name
        named = tuple("exact" if name == "code" else name for name in value)
        known = _known(named, ("exact", "signature", *COLLISION_RERANKS), "rerank")
        return tuple("code" if name == "exact" else name for name in known)

    @field_validator("out", mode="before")
    @classmethod
    def _folder(cls, value: object) -> object:
        if value == "":
            raise ValueError("expected the path of a folder")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> StudyConfig:
        found = [line for n in SIZES for line in size_problems(n, getattr(self, n), self.family)]
        found = list(dict.fromkeys([*found, *self._kind_problems()]))
        over_vectors = self.hashes_vectors or self.compared_by == "cosine"
        found += self.vector_problems(used=over_vectors, otherwise=", or --reference cosine")
        found += [
            f"backend {name} needs --{name}-url URL or {url_variable(name)}"
            for name in ENGINES
            if name in self.backend and not getattr(self, f"{name}_url")
        ]
        if self.objective is not None:
            try:
                parse_measure(self.objective, self.cutoff)
            except SettingError as error:
                found.append(str(error))
        found += self.index_problems(self._urls, self.backend, self.filter)
        found += self._corpus_problems()
        if found:
            raise ValueError("\n".join(found))
        return self

    def _corpus_problems(self) -> list[str]:
        """Corpora named twice."""
        if self.index is None:
            return []
        found = []
        if "corpus" in self.model_fields_set:
            found.append("--index and --corpus: give one, the corpus is read from it")
        if self.fields is not None:
            found.append("--fields: the fields of an index are given with --text-field")
        return found

    @property
    def _urls(self) -> dict[str, str | None]:
        return {name: getattr(self, f"{name}_url") for name in ENGINES}

    @property
    def index_place(self) -> IndexPlace | None:
        """The index that the corpus is read from."""
        return self._place("index", self._urls, self.backend)

    @property
    def attach_place(self) -> IndexPlace | None:
        """The index that is measured as it is."""
        return self._place("attach", self._urls, self.backend)

    @property
    def only_attached(self) -> bool:
        """Whether nothing of ours is measured."""
        return self.kind == (ATTACHED,)

    @property
    def backends(self) -> tuple[str, ...]:
        """Every backend that is measured, that of an attached index too."""
        swept = () if self.only_attached else self.backend
        attached = () if self.attach_place is None else (self.attach_place.engine,)
        return tuple(dict.fromkeys((*swept, *attached)))

    def _kind_problems(self) -> list[str]:
        """Kinds that no backend of the study has, and sizes of graphs where there are none."""
        given = [name for name in RANGES if getattr(self, name)]
        if given and not any(GRAPH in self.kinds_on(name) for name in self.backend):
            return [
                f"{', '.join(given)}: no {GRAPH} is measured; add it to --kind, or leave it out"
            ]
        if self.kind is None:
            return []
        held = dict.fromkeys(kind for name in self.backend for kind in backend(name).kinds)
        if self.attach is not None:
            held[ATTACHED] = None
        elif ATTACHED in self.kind:
            return [f"kind: {ATTACHED} needs --attach NAME, the index that is measured as it is"]
        return [
            f"kind: no {kind!r} on {', '.join(self.backend)}; choose from {', '.join(held)}"
            for kind in self.kind
            if kind not in held
        ]

    def kinds_on(self, backend_name: str) -> tuple[str, ...]:
        """The kinds of this backend that the study measures, in the backend's order."""
        held = backend(backend_name).kinds
        if self.kind is not None:
            return tuple(kind for kind in held if kind in self.kind)
        usual = tuple(kind for kind in held if kind not in ON_REQUEST)
        return usual or held

    def given(self, name: SizeName, of: str) -> tuple[int, ...]:
        """The sizes that were asked for this family, ascending; empty for its defaults."""
        sizes: dict[str, tuple[int, ...]] = getattr(self, name)
        return tuple(sorted(set(sizes.get(of) or sizes.get(ALL) or ())))

    def access(self, engine: str) -> BackendConfig:
        """How an engine is reached."""
        return self._access.get(engine) or BackendConfig(url=getattr(self, f"{engine}_url", None))

    def with_access(self, access: Mapping[str, BackendConfig]) -> StudyConfig:
        """This study, its engines reached so."""
        made = self.model_copy(update={f"{name}_url": one.url for name, one in access.items()})
        made._access = dict(access)
        return made

    @property
    def hashes_vectors(self) -> bool:
        """Whether a family of the study needs vectors."""
        return any(family(name).source == "vector" for name in self.family)

    @property
    def compared_by(self) -> Reference:
        """The reference similarity: cosine where every family hashes vectors, else Jaccard."""
        only_vectors = all(family(name).source == "vector" for name in self.family)
        return self.reference or ("cosine" if only_vectors else "jaccard")

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
