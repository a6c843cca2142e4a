"""`harness clean`: parse, call, print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from harness.cli_options import access_options

if TYPE_CHECKING:
    from harness.cleaning import Leftover, Server
    from harness.cleaning_folders import WorkFolder

    Found: TypeAlias = list[tuple[Server, list[Leftover]]]


@click.command()
@access_options
@click.option("--owner", metavar="TAG", help="Only indices of this owner; no folders.")
@click.option(
    "--reports",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports"),
    metavar="DIR",
    help="Folder of the studies (reports).",
)
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=None,
    metavar="HOURS",
    help="Age from which an index of no study in --reports is removed without --owner (24).",
)
@click.option("--yes", is_flag=True, help="Remove without a question.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON; asks nothing.")
@click.pass_context
def clean(
    context: click.Context,
    /,
    owner: str | None,
    reports: Path,
    older_than: float | None,
    yes: bool,
    as_json: bool,
    **access: Any,
) -> None:
    """List what killed runs left: temporary indices and work folders. Then remove it.

    Asks first; without a terminal and without --yes it only lists. Only what is exactly as harness
    makes it is removed: an index by its name and owner tag, a folder by the mark of its study.
    Anything else is left, and so is an index that carries an alias, and what a study that runs
    right now holds or asks. A young index that no study in --reports left may be at work elsewhere:
    it is removed with --owner only.
    """
    from harness import cleaning, cleaning_folders
    from indexers.backends._engine_temporary import check_owner

    if owner is not None:
        check_owner(owner)
    servers = _servers(access)
    running = cleaning_folders.running_owners(reports)
    found = [(server, server.leftovers(owner, running)) for server in servers]
    if owner is None or older_than is not None:
        known = cleaning_folders.stopped_owners(reports)
        old_h = cleaning.OLD_H if older_than is None else older_than
        found = [(s, cleaning.without_young(indices, known, old_h)) for s, indices in found]
    folders = cleaning_folders.work_folders(reports) if owner is None else []
    if not as_json:
        _show([one for _, indices in found for one in indices], folders)
    _hint(servers, reports, owner)
    free = sum(one.free for one in _all(found, folders))
    failures: list[str] = []
    if free and (yes or (not as_json and _agreed(free))):
        found, folders = _removed(found, folders, failures)
    if as_json:
        import json  # which writes names of files that are no UTF-8, too

        told = cleaning.document([one for _, indices in found for one in indices], folders)
        click.echo(json.dumps(told, indent=2))
    context.exit(1 if failures else 0)


def _all(found: Found, folders: list[WorkFolder]) -> list[Leftover | WorkFolder]:
    return [*(one for _, indices in found for one in indices), *folders]


def _removed(
    found: Found, folders: list[WorkFolder], failures: list[str]
) -> tuple[Found, list[WorkFolder]]:
    """Remove what may be removed, and tell of each why where it was not.

    Args:
        found: indices by server.
        folders: of work.
        failures: gets a line for each that could not be removed.
    """
    from harness import cleaning

    indices = [(server, cleaning.remove(server, ones, failures.append)) for server, ones in found]
    works = [_without(one, failures) if one.free else one for one in folders]
    pairs = zip(_all(found, folders), _all(indices, works), strict=True)
    tried = [after for before, after in pairs if before.free]
    _tell(f"removed {sum(one.removed for one in tried)} of {len(tried)}")
    for one in tried:
        if one.kept is not None:
            _tell(f"{cleaning.shown(one.name)} {one.kept}")
    for failure in failures:
        _tell(failure)
    return indices, works


def _servers(access: dict[str, Any]) -> list[Server]:
    from harness.access import engine_access
    from harness.cleaning import Server

    servers = [Server(name, config) for name, config in engine_access(access).items()]
    for line in (line for server in servers for line in server.warnings):
        _tell(line)
    if not servers:
        _tell("no server is named, so none is asked: --opensearch-url or --elasticsearch-url")
    return servers


def _show(indices: Sequence[Leftover], folders: Sequence[WorkFolder]) -> None:
    from harness.cleaning import shown

    rows = [
        (
            shown(one.index),
            one.server,
            one.owner or "–",
            one.created or "–",
            "–" if one.documents is None else f"{one.documents:,}",
            "–" if one.size_bytes is None else _size(one.size_bytes),
            f"in use by {shown(one.in_use)}" if one.in_use else one.kept or "",
        )
        for one in indices
    ]
    if rows:
        header = ("index", "server", "owner", "created", "documents", "size", "")
        widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
        for row in (header, *rows):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            click.echo(line.rstrip())
    for folder in folders:
        path = shown(folder.path)
        click.echo(f"{path}  {folder.kept or _size(folder.size_bytes)}")
    if not rows and not folders:
        click.echo("nothing of harness is left")


def _hint(servers: Sequence[Server], reports: Path, owner: str | None) -> None:
    """Name servers that a study's notes speak of and this command does not."""
    from harness.cleaning_folders import notes, reachable

    asked = {server.place for server in servers}
    noted = {
        (one.backend, one.server)
        for folder in reachable(reports)
        for one in notes(folder).standing
        if owner in (None, one.owner)
    }
    for backend, place in sorted(noted - asked):
        _tell(f"an index may also stand on {place}: name it with --{backend}-url")


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        _tell("nothing was removed: --yes removes what is listed")
        return False
    return click.confirm(f"Remove {'this' if count == 1 else f'these {count}'}?", err=True)


def _without(one: WorkFolder, failures: list[str]) -> WorkFolder:
    from harness.cleaning import shown
    from harness.cleaning_folders import remove_folder

    try:
        return remove_folder(one)
    except OSError as error:
        path = shown(one.path)
        failures.append(f"{path} cannot be removed ({error.strerror}): remove it by hand")
        return one


def _tell(line: str) -> None:
    click.echo(f"harness: {line}", err=True)


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
