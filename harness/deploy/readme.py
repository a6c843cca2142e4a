"""`deploy/README.md`: what a stranger does on a fresh node, and what was measured."""

from __future__ import annotations

from dataclasses import replace

from harness import __version__
from harness.engines import ENGINES, url_variable
from harness.filters import text_of
from harness.report.markdown import code, escape
from harness.tuning.names import milliseconds, name_of
from harness.tuning.trial import Trial
from indexers.deployed import Deployed
from indexers.flavours import FLAVOURS


def readme(
    deployed: Deployed,
    pick: Trial,
    study: str,
    objective: str,
    stat: str,
    command: str,
    *,
    several_filters: bool = False,
) -> str:
    """The text.

    Args:
        deployed: how documents and queries are made.
        pick: the trial that was picked.
        study: its name.
        objective: the measure that was maximised.
        stat: the statistic that the SLA binds.
        command: that led to the pick, fit to be shown.
        several_filters: the setting was picked for what it does under each of several filters.
    """
    named = replace(pick.setting, filter=None) if several_filters else pick.setting
    on_engine = deployed.spec.backend in ENGINES
    parts = [
        f"# {escape(name_of(named))}\n\nThe setting that study `{study}` picked, ready to be used.",
        _needs(deployed),
        _engine_steps(deployed) if on_engine else _folder_steps(deployed),
        _inputs(deployed),
        _files(deployed, on_engine=on_engine),
        _measured(pick, objective, stat, command, several_filters=several_filters),
        _differs(deployed) if on_engine else _same(deployed),
    ]
    return "\n\n".join(parts) + "\n"


def _needs(deployed: Deployed) -> str:
    lines = [
        f"- Python 3.11 or later with the harness {__version__} that wrote this, from its checkout "
        "or wheel: `pip install HARNESS`, where HARNESS is the path of either"
    ]
    if deployed.spec.backend in ENGINES:
        server = FLAVOURS[deployed.spec.backend]
        lines.append(f"- {server}, of the version that was measured or a later one of its major")
    if deployed.spec.backend == "hnswlib":
        lines.append("- hnswlib: `pip install 'HARNESS[hnswlib]'`")
    if _model(deployed):
        lines.append("- the model's libraries: `pip install 'HARNESS[bge]'`")
    return "## You need\n\n" + "\n".join(lines)


def _engine_steps(deployed: Deployed) -> str:
    variable = url_variable(deployed.spec.backend)
    user = variable.replace("URL", "USER")
    more = _more(deployed)
    return f"""## Index and ask

```
python ingest.py --url URL --index NAME{more} documents.jsonl
python query.py --url URL --index NAME{more} --queries queries.jsonl
python query.py --url URL --index NAME "a text" --json
```

`ingest.py` makes the index NAME with the settings and mapping of `index.json` if there is none. An
index of that name that was made otherwise is left as it is, and you are told. Documents keep their
ids, so running it again updates them. Nothing is ever removed but a document that lost its text.

Credentials come from the environment or a file, never from the command line: `{variable}` may hold
the URL with user and password, or see `{user}`, `…_PASSWORD`, `…_API_KEY`, `…_CA` and
`HARNESS_CREDENTIALS` in the documentation of harness."""


def _folder_steps(deployed: Deployed) -> str:
    more = _more(deployed)
    return f"""## Index and ask

```
python ingest.py --folder index{more} documents.jsonl
python query.py --folder index{more} --queries queries.jsonl
python query.py --folder index "a text" --json
```

`ingest.py` builds the index of all documents below the folder `index`; running it again replaces
it whole, unless it was made with other parameters: then it is left as it is, and you are told.
Where the study picks another setting, this folder is kept under another name with all you put into
it; a folder outside the study's is safer.
There is no server: `index.json` and `query.json` do not exist for this setting."""


def _inputs(deployed: Deployed) -> str:
    fields = (deployed.source or {}).get("fields") or ["title", "text"]
    named = " and ".join(map(code, fields))
    lines = [
        "One JSON object a line. Documents: `_id` (or `id`), unique in the file, and their text in "
        f"{named}, joined by a space. Queries: `_id` and `text`."
    ]
    if deployed.spec.attributes:
        held = ", ".join(f"{code(name)} ({held_as})" for name, held_as in deployed.spec.attributes)
        lines.append(
            f"Attributes that answers are filtered by: {held}. `query.py --filter` takes "
            f"`FIELD=VALUE`, `FIELD=LOW..HIGH` or `none`; without it {_unasked(deployed)}."
        )
    if deployed.hashing is not None and deployed.hashing.dimension is not None:
        lines.append(_vectors(deployed, deployed.hashing.dimension))
    if deployed.learnt:
        lines.append(
            "Words are weighted by how rare they were in the study's corpus; the weights are in "
            "`weights.npz`. A collection of another kind wants a study of its own."
        )
    return "## Input\n\n" + "\n\n".join(lines)


def _unasked(deployed: Deployed) -> str:
    wanted = deployed.search.filter
    if wanted is None:
        return "all documents may be answered: the study had several filters"
    return f"{code(text_of(wanted))} counts, the filter of the study"


def _vectors(deployed: Deployed, dimension: int) -> str:
    model = _model(deployed)
    if model is None:
        return (
            f"Fingerprints are of vectors with {dimension} values, which the study read from a "
            "file. Give those of the same model with `--vectors FILE` to both scripts: `.npy` in "
            "the order of the lines, or Parquet with ids. Nothing here can make them."
        )
    where = ", from a folder: name it with `--model FOLDER`" if model["in_folder"] else ""
    return (
        f"Fingerprints are of vectors with {dimension} values by the model "
        f"{code(model['name'])}{where}; it is refused if its files differ. Vectors made elsewhere "
        "are taken with `--vectors FILE`. The last digits of a vector may differ from machine to "
        "machine, and an answer that hangs on them with it."
    )


def _files(deployed: Deployed, *, on_engine: bool) -> str:
    lines = ["| file | what it is |", "|---|---|"]
    if on_engine:
        lines += [
            "| `index.json` | settings and mapping of the index, as `PUT /NAME` takes them |",
            "| `query.json` | a search with `{{…}}` where a query differs from the next one; "
            '`python query.py … --body "a text"` shows it filled in |',
        ]
    lines.append("| `fingerprint.json` | all that a fingerprint and a search depend on |")
    if deployed.learnt:
        lines.append("| `weights.npz` | weights that were learnt from the study's corpus |")
    lines.append("| `ingest.py`, `query.py` | the two scripts; `--help` tells their options |")
    return "## Files\n\n" + "\n".join(lines)


def _measured(
    pick: Trial, objective: str, stat: str, command: str, *, several_filters: bool
) -> str:
    quality, latency = pick.quality.get(objective), (pick.latency_ms or {}).get(stat)
    told = [f"- trial `{pick.key}`, command {code(command)}"]
    if several_filters:
        under = "without a filter" if pick.setting.filter is None else code(pick.setting.filter)
        told.append(f"- of the study's filters, the figures are of the slowest: {under}")
    told.append(f"- {objective}: {'not known' if quality is None else f'{quality:.4f}'}")
    told.append(f"- {stat}: {'no bound' if latency is None else milliseconds(latency)}")
    if pick.rate_per_s is not None:
        told[-1] += f" at {pick.rate_per_s:.4g} requests a second"
    if pick.index_bytes is not None:
        told.append(f"- size: {pick.index_bytes:,} bytes")
    return "## Measured\n\n" + "\n".join(told)


OWN_DOCUMENT = """Where a query is itself a document of the index, the measurement left that
document out of the answers to it; `query.py` tells it like any other: ask for one more with `--k`
and drop it."""


def _differs(deployed: Deployed) -> str:
    layout = deployed.spec.layout
    refresh = "" if layout.refresh_interval == "-1" else f" ({layout.refresh_interval})"
    stored = "Documents themselves are not stored: answers are ids."
    if deployed.spec.stores_source:
        stored = "Of a document its joined text is stored, as `document.text`; answers bring it."
    return f"""## What is other than in the measurement

The measured index was a temporary one: without caches unless the study says otherwise, merged
before it was asked, refreshed and written as its layout says. Here the engine's caches are on,
documents become visible as the engine usually does it{refresh}, each change waits for the disk, and
nothing is merged by force. Latencies will differ; answers do not, but for graphs, which every
engine builds anew, for BM25 while replaced documents wait to be merged away, and for re-ranking a
window, where several documents stand at its edge alike.

Shards ({layout.shards}) and replicas ({layout.replicas}) are those that were measured: raise
`number_of_replicas` in `index.json` where there are several nodes. {stored}
`_meta.harness.manifest` in the mapping tells what the fingerprints are; keep it.

{OWN_DOCUMENT}"""


def _same(deployed: Deployed) -> str:
    return f"""## What is other than in the measurement

The index is built by the same code (backend `{deployed.spec.backend}`) from the same parameters.
The command line loads the index for every call; a service keeps it open.

{OWN_DOCUMENT}"""


def _model(deployed: Deployed) -> dict[str, object] | None:
    found: dict[str, object] | None = (deployed.source or {}).get("model")
    return found


def _more(deployed: Deployed) -> str:
    if deployed.hashing is None or deployed.hashing.dimension is None:
        return ""
    model = _model(deployed)
    if model is None:
        return " --vectors vectors.npy"
    return " --model FOLDER" if model["in_folder"] else ""
