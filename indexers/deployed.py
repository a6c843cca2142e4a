"""What an index in production is made and asked with: one JSON object that goes with it.

`fingerprint.json` holds all of it. The part that an index cannot be searched without, its
manifest, also stands in the mapping of an engine's index, at `_meta.harness.manifest`: family,
version, parameters, seed, normaliser, bit order and sizes. An index whose manifest is another is
refused, since its fingerprints would be compared with others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from indexers.errors import SettingError
from indexers.index_types import Filter, IndexSpec, Layout, SearchParams
from indexers.normaliser import NORMALISER
from indexers.protocols import Family, Hasher
from indexers.registry import family
from indexers.store import hash_parameters
from indexers.types import HashParams, TableSize

FILE = "fingerprint.json"
_OURS = {"format": 1, "normaliser": NORMALISER, "bit_order": "big"}
_LEFT_OUT = ("family", "hash_lengths", "layout", "updatable", "cached")
"""Of a spec: told elsewhere, or of how an index is kept."""
_SEARCHED = ("rerank", "ef_search", "window_size")


@dataclass(frozen=True, slots=True)
class Deployed:
    """How the documents and queries of one index are fingerprinted, indexed and asked.

    Attributes:
        spec: of the index: one hash length, and as many tables as are searched.
        search: the search parameters; `k` is how many answers are given unless told otherwise.
        hashing: how the family hashes; None for kinds of texts.
        learnt: digest of the weights that a hasher learnt; empty where there are none.
        source: fields of the documents, and where vectors come from, for those who read them.
    """

    spec: IndexSpec
    search: SearchParams
    hashing: HashParams | None = None
    learnt: str = ""
    source: Mapping[str, Any] | None = None

    @property
    def family(self) -> Family | None:
        """The family; None for kinds of texts."""
        return family(self.spec.family) if self.spec.family else None

    @property
    def size(self) -> TableSize:
        """The tables that a hasher makes."""
        return TableSize(self.spec.num_tables or 1, max(self.spec.hash_lengths, default=1))

    def hasher(self) -> Hasher:
        """A hasher of these parameters; weights that were learnt are the caller's to load.

        Raises:
            SettingError: this version of the family cannot serve them.
        """
        assert self.family is not None
        assert self.hashing is not None
        return self.family.hasher(self.size, self.hashing)

    @property
    def manifest(self) -> dict[str, Any]:
        """What an index of it carries, ready for JSON."""
        told: dict[str, Any] = {**_OURS, "fingerprint": None}
        if self.family is not None and self.hashing is not None:
            made_by = hash_parameters(self.family, self.size, self.hashing)
            told["fingerprint"] = made_by | ({"learnt": self.learnt} if self.learnt else {})
        index = {n: v for n, v in asdict(self.spec).items() if n not in _LEFT_OUT and v}
        if self.spec.hash_lengths:
            index["hash_length"] = max(self.spec.hash_lengths)
        return json.loads(json.dumps(told | {"index": index}))  # type: ignore[no-any-return]

    @property
    def document(self) -> dict[str, Any]:
        """`fingerprint.json`: the manifest, how it is searched, and what it is made from."""
        search = {n: getattr(self.search, n) for n in _SEARCHED}
        told = {n: v for n, v in search.items() if v is not None}
        if self.search.filter is not None:
            wanted = asdict(self.search.filter)
            told["filter"] = {n: v for n, v in wanted.items() if v is not None}
        return {
            **self.manifest,
            "search": {"k": self.search.k, **told},
            "source": dict(self.source or {}),
        }

    def check(self, manifest: object, where: str) -> None:
        """Refuse an index that was made otherwise.

        Args:
            manifest: of the index; None where it has none.
            where: the index, for the message.

        Raises:
            SettingError: there is no manifest, or it is another.
        """
        if not isinstance(manifest, Mapping):
            raise SettingError(
                f"{where} is not one of these deploy files: its mapping has no "
                "_meta.harness.manifest; choose another name, it is left as it is"
            )
        if (found := difference(self.manifest, manifest)) is not None:
            name, ours, theirs = found
            raise SettingError(
                f"{where} was made with {name} {theirs!r} and {FILE} says {ours!r}: choose "
                "another name, or the deploy files that it was made with; it is left as it is"
            )


def difference(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], path: str = ""
) -> tuple[str, object, object] | None:
    """The first (dotted name, our value, their value) in which two manifests differ, or None."""
    for name in sorted({*ours, *theirs}):
        one, other = ours.get(name), theirs.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            if found := difference(one, other, f"{path}{name}."):
                return found
        elif one != other:
            return f"{path}{name}", one, other
    return None


def manifest_of(mapping: Mapping[str, Any]) -> Deployed | None:
    """What the manifest in an engine's mapping says; None where there is none.

    Args:
        mapping: the value of `mappings` in the reply to `GET /<index>/_mapping`.

    Raises:
        SettingError: it is of another version, or not understood.
    """
    tag = (mapping.get("_meta") or {}).get("harness")
    if not isinstance(tag, Mapping) or not isinstance(tag.get("manifest"), Mapping):
        return None
    search = tag.get("search")
    read = {"search": search if isinstance(search, Mapping) else {}, **tag["manifest"]}
    return parsed(read, "the index's manifest")


def load(folder: Path) -> Deployed:
    """What `fingerprint.json` in this folder says.

    Raises:
        SettingError: it is missing, of another version, or not understood.
    """
    path = folder / FILE
    try:
        read = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise SettingError(f"{path} is missing: keep the deploy files together") from None
    except (OSError, ValueError) as error:
        raise SettingError(f"{path} cannot be read ({error}): take it from the study") from None
    return parsed(read, str(path))


def parsed(read: object, where: str) -> Deployed:
    """The object that `Deployed.document` or `Deployed.manifest` wrote.

    Raises:
        SettingError: it is of another version, or not understood.
    """
    if not isinstance(read, Mapping):
        raise SettingError(f"{where} is no JSON object")
    for name, value in _OURS.items():
        if read.get(name) != value:
            raise SettingError(
                f"{where} has {name} {read.get(name)!r}, this version of harness reads "
                f"{value!r}: install the version that wrote it, or index anew"
            )
    try:
        return _parsed(read)
    except (KeyError, TypeError, ValueError) as error:
        told = " ".join(str(error).split())
        raise SettingError(f"{where} is not understood ({told}): take it from the study") from None


def _parsed(read: Mapping[str, Any]) -> Deployed:
    index, search = dict(read["index"]), dict(read.get("search") or {})
    length = index.pop("hash_length", None)
    index["attributes"] = tuple((str(n), str(t)) for n, t in index.get("attributes", ()))
    told = read.get("fingerprint")
    spec = IndexSpec(
        **index,
        family=None if told is None else told["family"],
        hash_lengths=() if length is None else (length,),
        layout=Layout(),
        cached=True,
    )
    rerank = search.pop("rerank", None) or _usual_rerank(spec)
    wanted = search.pop("filter", None)
    params = SearchParams(
        k=search.pop("k", 10),
        num_tables=spec.num_tables,
        hash_length=length,
        rerank=rerank,
        filter=None if wanted is None else Filter(**wanted),
        fetch_source=spec.stores_source,
        **search,
    )
    learnt = "" if told is None else told.get("learnt", "")
    return Deployed(spec, params, _hashing(told, rerank), learnt, read.get("source"))


def _usual_rerank(spec: IndexSpec) -> str:
    return family(spec.family).reranks[0] if spec.family else "code"


def _hashing(told: Mapping[str, Any] | None, rerank: str) -> HashParams | None:
    if told is None:
        return None
    version = family(told["family"]).version
    if told["version"] != version:
        raise ValueError(
            f"{told['family']} of version {told['version']}, this harness has version {version}"
        )
    names = {f.name for f in fields(HashParams)}
    given = {name: value for name, value in told.items() if name in names}
    return HashParams(**{"bits": 0, **given, "signatures": rerank == "signature"})
