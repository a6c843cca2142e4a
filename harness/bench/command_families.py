"""`harness bench families`: what there is, what fits what, and where it can be searched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from harness.bench import matrix, probes
from indexers import registry
from indexers.errors import MissingPackage
from indexers.fits import fits
from indexers.protocols import Family

NONE = "–"


@click.command("families", short_help="Which similarity fits which family; where it is searched.")
@click.option("--backends", is_flag=True, help="Print the matrix family × backend/kind instead.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
def command(*, backends: bool, as_json: bool) -> None:
    """Families, their forms, the similarities that compare them, and the backends that search them.

    Nothing is listed by hand: names are found by file name, what fits follows from the forms
    that families and similarities declare, statuses are those of a few documents hashed now,
    and the backends say themselves what they can search.
    """
    if as_json:
        click.echo(json.dumps(_document(), ensure_ascii=False, indent=1))
        return
    click.echo("\n".join(_backend_lines() if backends else _family_lines()))


def _document() -> dict[str, Any]:
    return {
        "families": [_described(family) for family in _families()],
        "similarities": [fit._asdict() for fit in fits()],
        "backends": [{**asdict(cell), "possible": cell.reason is None} for cell in matrix.cells()],
    }


def _families() -> list[Family]:
    return [registry.family(name) for name in registry.family_names()]


def _described(family: Family) -> dict[str, Any]:
    sweep = family.sweep(None)
    return {
        "family": family.name,
        "version": family.version,
        "source": family.source,
        "forms": family.forms,
        "kinds": family.kinds,
        "reranks": family.reranks,
        "reads": family.reads,
        "nested": family.nested,
        "bits": sweep.bits,
        "num_tables": sweep.num_tables,
        "hash_lengths": sweep.hash_lengths,
        "statuses": _statuses(family),
    }


def _statuses(family: Family) -> dict[str, str] | None:
    """None where a package that the hasher needs is not installed."""
    try:
        return probes.statuses(family)
    except MissingPackage:
        return None


def _family_lines() -> Iterator[str]:
    families = _families()
    yield "Families: what they take, what their fingerprints are, how they are searched and ranked"
    yield ""
    heads = ["family", "of", "forms", "index kinds", "ranked by", "bits"]
    rows = [
        [
            family.name,
            family.source,
            _joined(family.forms, "membership"),
            _joined(family.kinds, "only compared"),
            _joined(family.reranks),
            str(family.sweep(None).bits or NONE),
        ]
        for family in families
    ]
    yield from _aligned([heads, *rows])
    yield ""
    yield "Similarities: the form in which each compares a family; – where they do not fit"
    yield ""
    yield from _aligned(_fit_rows())
    yield ""
    yield "Status of documents with little in them; only `ok` is indexed"
    yield ""
    for source, names in (("text", probes.PROBES), ("vector", probes.VECTOR_PROBES)):
        mine = [family for family in families if family.source == source and family.forms]
        yield from _aligned([[source, *names], *(_status_row(family, names) for family in mine)])
        yield ""
    yield "Where they can be searched: harness bench families --backends"


def _fit_rows() -> Iterator[list[str]]:
    forms = {(fit.family, fit.similarity): str(fit.form) for fit in fits()}
    yield ["family", *registry.similarity_names()]
    for name in registry.family_names():
        yield [name, *(forms.get((name, other), NONE) for other in registry.similarity_names())]


def _status_row(family: Family, names: Sequence[str]) -> list[str]:
    found = _statuses(family) or {}
    return [family.name, *(found.get(name, "package missing") for name in names)]


def _backend_lines() -> Iterator[str]:
    found = matrix.cells()
    columns = list(dict.fromkeys((cell.backend, cell.kind) for cell in found))
    reasons = list(dict.fromkeys(cell.reason for cell in found if cell.reason))
    shown = {
        (cell.family, cell.backend, cell.kind): (
            f"[{reasons.index(cell.reason) + 1}]" if cell.reason else "yes"
        )
        for cell in found
    }
    yield "Families by backend/kind: yes, or the number of the reason below"
    yield ""
    heads = ["family", *(f"{backend}/{kind}" for backend, kind in columns)]
    rows = [
        [name, *(shown[name, backend, kind] for backend, kind in columns)]
        for name in registry.family_names()
    ]
    yield from _aligned([heads, *rows])
    yield ""
    yield from (f"[{number}] {reason}" for number, reason in enumerate(reasons, 1))


def _joined(names: Sequence[str], nothing: str = NONE) -> str:
    return ", ".join(names) or nothing


def _aligned(rows: Iterable[list[str]]) -> Iterator[str]:
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()
