"""`harness bench`: families against each other, and what belongs to it."""

from __future__ import annotations

import importlib
import pkgutil
import shlex
import sys
from pathlib import Path
from typing import Any, cast

import click
from click.core import ParameterSource

import harness.bench
from harness.cli_options import vector_options
from indexers.address import masked
from indexers.errors import SettingError

_PREFIX = "command_"


class LazyGroup(click.Group):
    """A group whose commands are the modules `command_<name>`, imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Names of the modules that are there."""
        found = (module.name for module in pkgutil.iter_modules(harness.bench.__path__))
        return sorted(n.removeprefix(_PREFIX) for n in found if n.startswith(_PREFIX))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The module's `command`, or None where there is no such module."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"harness.bench.{_PREFIX}{cmd_name}")
        return cast(click.Command, module.command)


@click.group(cls=LazyGroup, invoke_without_command=True, subcommand_metavar="[COMMAND [ARGS]...]")
@click.option("--corpus", metavar="DIR", help="A judged corpus: BEIR, CSFCube or RELISH folder.")
@click.option("--protocol", metavar="HOW", help="pool (default) or corpus.")
@click.option("--family", metavar="A,B", help="Families, or all (default).")
@click.option("--similarity", metavar="A,B", help="Similarities, or all (default).")
@vector_options
@click.option("--fields", metavar="A,B", help="Fields joined into a document's text (title,text).")
@click.option("--bits", metavar="N", help="Of codes and signatures (each family's own).")
@click.option("--unit", metavar="U", help="Shingles of: word or char (each family's default).")
@click.option("--shingle-size", metavar="N", help="Units a shingle, 1 to 7.")
@click.option("--weighting", metavar="W", help="Of shingles: tf or idf.")
@click.option("--window", metavar="N", help="Hashes a Winnowing window spans.")
@click.option("--grid", is_flag=True, help="Also measure num_tables x hash_length.")
@click.option("--num-tables", metavar="SIZES", multiple=True, help="Of the grid: 5,20.")
@click.option("--hash-length", metavar="SIZES", multiple=True, help="8,12 or minhash=2,4.")
@click.option("--relevant-from", metavar="LABEL", help="Least relevant label.")
@click.option("--cutoff", metavar="K", help="One more cut-off of P, R and F1.")
@click.option("--seed", metavar="N", help="Of hashes and resamples (123; flyhash 55).")
@click.option("--resamples", metavar="N", help="Of the bootstrap (1,000).")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="bench.json, report.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.pass_context
def bench(context: click.Context, /, **flags: Any) -> None:
    """Compare fingerprints and similarities on a judged corpus, without any index.

    Quality, time, ties and confidence of every family with every similarity that fits it. Rows
    are ranked by MAP; of the similarities, hamming, levenshtein and manhattan are 1/(1+distance),
    mahalanobis is an exponent, 0 or less, and the others are 0 to 1, cosine of vectors -1 to 1.
    Levenshtein takes time in the product of two lengths: seconds for a document of 1 MB.
    """
    if context.invoked_subcommand is not None:
        _refuse_before(context, context.invoked_subcommand)
        return
    from harness.bench.run import run

    run(command=masked(shlex.join(["harness", *sys.argv[1:]])), **flags)


def _refuse_before(context: click.Context, command: str) -> None:
    """Refuse options that stand before a command, which does not read them.

    Raises:
        SettingError: there are some.
    """
    given = [
        max(one.opts, key=len)
        for one in context.command.params
        if one.name and context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise SettingError(
            f"{', '.join(given)} before {command} would change nothing: put it behind, as far as "
            f"`harness bench {command} --help` lists it"
        )
