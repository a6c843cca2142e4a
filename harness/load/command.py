"""`harness load`: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli_options import access_options

if TYPE_CHECKING:
    from harness.load.figures import Figures
    from harness.tuning.sla import Sla

MEETS, MISSES, INTERRUPTED = 0, 3, 130


@click.command()
@click.option("--study", metavar="DIR", type=click.Path(path_type=Path), help="Folder of a study.")
@click.option(
    "--key", metavar="KEY", help="Its trial to drive, or the key's first digits (the pick)."
)
@click.option("--index", metavar="NAME", help="Instead: an index of your own; only searched.")
@click.option(
    "--queries",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --index: JSONL, a search body a line, or a text with --body.",
)
@click.option(
    "--body",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --index: JSON search body with {{text}} where a query's text goes.",
)
@click.option("--sla-ms", metavar="MS", help="Latency limit in milliseconds (the study's).")
@click.option("--sla-stat", metavar="STAT", help="p99, p95, p90, p50 or mean (the study's).")
@click.option("--rate", metavar="N", help="Requests a second (the study's; 100 on an index).")
@click.option("--users", metavar="N", help="Users of the closed-loop burst, or of the page (4).")
@click.option("--replay", metavar="HOW", help="unique, zipf or zipf:S (the study's; unique).")
@click.option("--duration", metavar="S", help="Seconds of load (30; with --web no end).")
@click.option("--web", is_flag=True, help="Start and stop the load from Locust's own page.")
@click.option("--web-port", metavar="P", help="Of that page, on 127.0.0.1 (8089; 0: a free one).")
@access_options
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.pass_context
def load(context: click.Context, /, as_json: bool, **flags: Any) -> None:
    """Put load on one setting of a study, or on an index of your own.

    A study's index is built again as it was measured, and removed afterwards. Requests leave on
    a schedule (open loop), whatever the answers do; Ctrl-C prints what was measured so far.
    """
    from harness.load.figures import meets
    from harness.load.options import load_options
    from harness.load.show import show
    from harness.progress import Progress

    options = load_options(flags)
    told: list[tuple[Figures, Sla | None]] = []

    def ended(figures: Figures, sla: Sla | None) -> None:
        told.append((figures, sla))
        if options.web and not as_json:
            show(figures, sla, as_json=False)

    if options.study is not None:
        from harness.load.study_load import load_study

        load_study(options, Progress(), ended)
    else:
        from harness.load.attached_load import load_attached

        load_attached(options, Progress(), ended)
    if not told:
        click.echo("no run was started", err=True)
        return
    figures, sla = told[-1]
    if as_json or not options.web:
        show(figures, sla, as_json=as_json)
    if figures.interrupted:
        context.exit(INTERRUPTED)
    context.exit(MISSES if meets(figures, sla) is False else MEETS)
