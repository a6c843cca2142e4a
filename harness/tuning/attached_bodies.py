"""What an attached index is asked: the user's own search body, or what its manifest says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from harness.filters import text_of
from harness.search_bodies import filled, read_template
from indexers.backends._engine import Engine
from indexers.backends._engine_existing import ExistingIndex
from indexers.backends._engine_search import bodies as engine_bodies
from indexers.backends._engine_text import valid
from indexers.deployed import Deployed, manifest_of
from indexers.errors import SettingError
from indexers.http_request import Transport
from indexers.index_types import IndexHandle, Queries
from indexers.registry import backend


def own_bodies(path: Path, texts: Sequence[str], k: int, id_field: str | None) -> tuple[bytes, ...]:
    """The user's search body, filled with each query; empty for a blank one.

    Args:
        path: of the body.
        texts: of the queries.
        k: answers that are judged; asked for where the body names no `size`.
        id_field: brought along where the body leaves it out; None for `_id`.

    Raises:
        SettingError: the body cannot be read, or asks for too few answers.
    """
    template = read_template(path)
    size = template.setdefault("size", k)
    if isinstance(size, bool) or not isinstance(size, int) or size < k:
        raise SettingError(
            f"--body {path}: asks for size {size}, and {k} answers are judged (one more than the "
            "cut-off where queries are documents): leave size out, or give a smaller --cutoff"
        )
    if id_field is not None and not _brings(template, id_field):
        template["docvalue_fields"] = [*template.get("docvalue_fields", ()), {"field": id_field}]
    return tuple(filled(template, valid(text)) if text.strip() else b"" for text in texts)


def _brings(body: dict[str, Any], field: str) -> bool:
    """Whether the answers to this body hold the field."""
    for name in ("fields", "docvalue_fields"):
        for one in body.get(name, ()):
            if (one.get("field") if isinstance(one, dict) else one) == field:
                return True
    source = body.get("_source", True)
    if isinstance(source, dict):
        named = source.get("includes") or source.get("include")
        source = named if named else not (source.get("excludes") or source.get("exclude"))
    if isinstance(source, bool):
        return source
    named = [source] if isinstance(source, str) else source
    return field in named


def deployed_bodies(
    engine: str, index: ExistingIndex, texts: Sequence[str], k: int, send: Transport
) -> tuple[bytes, ...]:
    """What an index of deploy files is asked by its manifest; empty where nothing can be.

    The filter of its manifest is left out: every document of the corpus is judged.

    Raises:
        SettingError: it has no manifest, or the manifest's queries cannot be made from texts.
        BackendError: the server does not tell its limits.
    """
    deployed = manifest_of(index.mapping)
    if deployed is None:
        raise SettingError(
            f"--attach {index.given}: its mapping holds no manifest of deploy files, so how it is "
            "searched is not known: give --body FILE, a search body with {{text}} in it"
        )
    queries = Queries(texts, None)
    if deployed.family is not None:
        _check_hashed_from_texts(index.given, deployed)
        queries = Queries(texts, deployed.hasher()(list(texts)))
    # of use only here, to make bodies: nothing that could remove an index ever sees it
    spec = replace(deployed.spec, backend=engine)
    handle = IndexHandle(spec, index.given, documents=0, size_bytes=0, build_s=0.0)
    dialect = cast("type[Engine]", backend(engine)).dialect
    search = replace(deployed.search, k=k, filter=None)
    made = engine_bodies(handle, search, queries, send, dialect)
    return tuple(body or b"" for body in made)


def _check_hashed_from_texts(name: str, deployed: Deployed) -> None:
    assert deployed.family is not None
    what = None
    if deployed.family.source == "vector":
        what = f"{deployed.family.name} hashes vectors"
    elif deployed.learnt:
        what = "its hashes are weighted by what was learnt when it was made"
    if what is not None:
        raise SettingError(
            f"--attach {name}: {what}, so that its queries cannot be made from texts alone: give "
            "--body FILE, a search body with {{text}} in it"
        )


def deployed_words(index: ExistingIndex) -> str | None:
    """The manifest for people; None without one."""
    deployed = manifest_of(index.mapping)
    if deployed is None:
        return None
    spec = deployed.spec
    told = [spec.family or "", spec.kind]
    told += [f"num_tables {spec.num_tables}"] if spec.num_tables else []
    told += [f"hash_length {length}" for length in spec.hash_lengths]
    words = "asked as its manifest says: " + " ".join(part for part in told if part)
    wanted = deployed.search.filter
    return words if wanted is None else f"{words}, but without its filter {text_of(wanted)}"
