"""Flags of indices that are there already: one the corpus is read from, one that is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from harness.config_values import Name, Names, listed
from harness.engines import ENGINES, url_variable
from indexers.errors import SettingError
from indexers.index_name import checked_name

_WITH_INDEX = ("text_field", "id_field", "queries", "judgments")


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """An index, or an alias of one, on an engine."""

    engine: str
    name: str


def _one(field: str) -> str:
    """A field; an engine takes a pattern for as many as fit.

    Raises:
        ValueError: it is a pattern.
    """
    if "*" in field:
        raise ValueError(f"expected the path of one field, without *, not {field!r:.80}")
    return field


def _each_one(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_one, fields))


class IndexFlags(BaseModel):
    """Indices that are there already; they are read and searched, never changed.

    Attributes:
        index: that the corpus is read from, `NAME` or `ENGINE:NAME`.
        text_field: its fields that are joined into a document's text; dotted paths.
        id_field: where a document's id is found, in `index` and `attach`; None for `_id`.
        queries: JSONL of `_id` and `text`; None to draw documents.
        judgments: BEIR's TSV or TREC's qrels.
        attach: that is measured as it is, `NAME` or `ENGINE:NAME`.
        body: search bodies in one of whose strings `{{text}}` stands; a row each.
    """

    index: str | None = Field(default=None, min_length=1)
    text_field: Annotated[Names, AfterValidator(_each_one)] | None = None
    id_field: Annotated[Name, AfterValidator(_one)] | None = None
    queries: Path | None = None
    judgments: Path | None = None
    attach: str | None = Field(default=None, min_length=1)
    body: Annotated[tuple[Path, ...], BeforeValidator(listed)] = ()

    def index_problems(
        self, urls: Mapping[str, str | None], measured: Sequence[str], filters: Sequence[str]
    ) -> list[str]:
        """What does not fit together, a line each.

        Args:
            urls: engine -> URL, for those that have one.
            measured: backends of the study.
            filters: of the study.
        """
        found = []
        for flag in ("index", "attach"):
            try:
                self._place(flag, urls, measured)
            except ValueError as error:
                found.append(str(error))
        given = [name for name in _WITH_INDEX if getattr(self, name) is not None]
        alone = [name for name in given if name != "id_field" or self.attach is None]
        if self.index is None and alone:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in alone)
            where = "--index NAME, the index that the corpus is read from"
            or_attach = ", or --attach NAME" if alone == ["id_field"] else ""
            found.append(f"{flags}: only with {where}{or_attach}")
        if self.index is not None and self.text_field is None:
            found.append("--index needs --text-field NAME, the field that holds the text")
        if self.judgments is not None and self.queries is None:
            found.append("--judgments needs --queries FILE: it judges queries by their ids")
        if self.body and self.attach is None:
            found.append("--body: only with --attach NAME, the index that is searched by it")
        if self.index is not None:
            patterns = [text for text in filters if "*" in text.partition("=")[0]]
            found += [f"--filter {text!r:.80}: a field of --index has no *" for text in patterns]
        if self.attach is not None and filters:
            found.append(
                "--filter: none is put into the searches of --attach; leave it out, or measure the "
                "attached index in a study of its own"
            )
        return found

    def _place(
        self, flag: str, urls: Mapping[str, str | None], measured: Sequence[str]
    ) -> IndexPlace | None:
        given: str | None = getattr(self, flag)
        return None if given is None else place_of(f"--{flag}", given, urls, measured)


def place_of(
    flag: str, given: str, urls: Mapping[str, str | None], measured: Sequence[str] = ()
) -> IndexPlace:
    """The index that a flag names; on the one engine that is measured where it names none.

    Raises:
        ValueError: it is no name of one index, or its engine is not known.
    """
    head, colon, rest = given.partition(":")
    engine, name = (head, rest) if colon and head in ENGINES else (None, given)
    try:
        checked_name(name)
    except SettingError as error:
        form = f"as NAME or ENGINE:NAME such as {ENGINES[0]}:products"
        raise ValueError(f"{flag} {given!r:.80}: {error}, {form}") from None
    known = [one for one in ENGINES if urls.get(one)]
    if len(used := [one for one in known if one in measured]) == 1:
        known = used
    if engine is None and len(known) > 1:
        raise ValueError(f"{flag} {name}: on which engine? write {' or '.join(_named(name))}")
    if engine is None and not known:
        options = ", ".join(f"--{one}-url URL or {url_variable(one)}" for one in ENGINES)
        raise ValueError(f"{flag} {name}: needs the URL of its server: {options}")
    engine = engine or known[0]
    if not urls.get(engine):
        raise ValueError(f"{flag} {given}: needs --{engine}-url URL or {url_variable(engine)}")
    return IndexPlace(engine, name)


def _named(name: str) -> list[str]:
    return [f"{engine}:{name}" for engine in ENGINES]
