"""`harness engine`: parse, call, print."""

from __future__ import annotations

import click
import orjson

from harness.engine.flavours import PORTS, SIZES, Cluster
from harness.engines import ENGINES

_NODES = click.Choice([str(n) for n in SIZES])
_ENGINE = click.Choice(ENGINES)
_DEFAULTS = ", ".join(f"{engine} {port}" for engine, port in PORTS.items())


@click.group(subcommand_metavar="COMMAND [ARGS]...")
def engine() -> None:
    """Start, look at and stop a search engine in containers, on 127.0.0.1 alone.

    Needs Docker with its compose plugin. Only containers that these commands made are touched.
    """


@engine.command()
@click.argument("name", type=_ENGINE, default=ENGINES[0], metavar="[opensearch|elasticsearch]")
@click.option("--nodes", type=_NODES, default="1", help="Nodes of the cluster (1).")
@click.option("--dashboards", is_flag=True, help="Also OpenSearch Dashboards or Kibana.")
@click.option(
    "--port", type=click.IntRange(1, 65535), metavar="N", help=f"Of 127.0.0.1 ({_DEFAULTS})."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=300.0,
    metavar="S",
    help="Longest wait once the containers run (300).",
)
def up(name: str, nodes: str, dashboards: bool, port: int | None, timeout: float) -> None:
    """Start an engine, wait until it is green, and print its URL."""
    from harness.engine import lifecycle
    from harness.progress import Progress

    say = Progress().say
    made = lifecycle.up(
        Cluster(name, int(nodes)), port=port, dashboards=dashboards, limit_s=timeout, say=say
    )
    if made.health != "green":
        say(f"{name} is {made.health}: replicas of kept indices have no node to be on")
    if made.dashboards_url:
        say(f"dashboards: {made.dashboards_url} (they take a minute more)")
    click.echo(made.url)


@engine.command()
@click.argument("name", type=_ENGINE, required=False, metavar="[opensearch|elasticsearch]")
@click.option("--remove-data", is_flag=True, help="Remove the indices too.")
def down(name: str | None, remove_data: bool) -> None:
    """Stop an engine, or both; what they hold is kept for the next start."""
    from harness.engine import lifecycle
    from harness.progress import Progress

    lifecycle.down(name, remove_data=remove_data, say=Progress().say)


@engine.command()
@click.argument("name", type=_ENGINE, required=False, metavar="[opensearch|elasticsearch]")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def status(name: str | None, as_json: bool) -> None:
    """Tell what runs, how it is and where."""
    from harness.engine import lifecycle

    found = lifecycle.states(name)
    if as_json:
        click.echo(orjson.dumps([one.document() for one in found], option=orjson.OPT_INDENT_2))
        return
    for one in found:
        line = f"{one.engine} --nodes {one.nodes}: "
        if one.running == 0:
            click.echo(line + "not up")
            continue
        boards = f", dashboards {one.dashboards_url}" if one.dashboards_url else ""
        click.echo(line + f"{one.running} running, {one.health}, {one.url}{boards}")
