"""What a deploy folder holds, made from the pick and the study's facts alone."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.command_line import one_line
from harness.config import StudyConfig
from harness.deploy.deployment import LEARNT
from harness.deploy.readme import readme
from harness.engines import ENGINES
from harness.filters import attributes_of, filters_of
from harness.tuning.hashing import hashing_of
from harness.tuning.plan import Plan
from harness.tuning.specs import params_of, spec_of
from harness.tuning.store import Store
from harness.tuning.trial import Trial
from indexers.address import masked
from indexers.deployed import FILE, Deployed
from indexers.index_types import BackendConfig
from indexers.registry import backend, family

SCRIPTS = Path(__file__).parent / "scripts"
NOWHERE = "http://localhost"
"""No request is sent while files are written."""
WITHOUT_WEIGHTS = """\
# Nothing to deploy yet

The study was measured by a version of harness that did not keep the weights of words, without
which no other document gets the same fingerprint. Run its `harness tune` command with `--fresh`.
"""


def content(
    config: StudyConfig, plan: Plan, store: Store, pick: Trial, objective: str, command: str
) -> dict[str, bytes]:
    """File name -> content of the deploy folder.

    Args:
        config: the study.
        plan: of the study.
        store: its facts.
        pick: the trial whose setting is put into production.
        objective: of the study.
        command: the command line that led to the pick.
    """
    deployed = deployed_of(config, plan, store, pick)
    if pick.setting.weighting == "idf" and not deployed.learnt:
        return {"README.md": WITHOUT_WEIGHTS.encode()}
    on_engine = pick.setting.backend in ENGINES
    files = {FILE: _json(deployed.document)}
    place = "engine" if on_engine else "folder"
    for name in ("ingest", "query"):
        files[f"{name}.py"] = (SCRIPTS / f"{place}_{name}.py").read_bytes()
    if on_engine:
        version = str((store.meta("backends") or {})[pick.setting.backend]["version"])
        files["index.json"], files["query.json"] = map(_json, _of_engine(deployed, version))
    if deployed.learnt:
        files[LEARNT] = (plan.folder / "learnt" / f"{deployed.learnt}.npz").read_bytes()
    shown = shown_command(command)
    several = several_filters(config)
    text = readme(
        deployed, pick, plan.name, objective, config.sla_stat, shown, several_filters=several
    )
    return files | {"README.md": text.encode()}


def deployed_of(config: StudyConfig, plan: Plan, store: Store, pick: Trial) -> Deployed:
    """How documents and queries of the picked setting are made.

    A pick holds under all filters of its study: only where there is one is it that of every query.
    """
    setting = pick.setting
    filters = dict.fromkeys((*filters_of(config.filter), setting.filter))
    hashing = hashing_of(setting)
    params = params_of(setting, config.cutoff)
    if several_filters(config):
        params = replace(params, filter=None)
    hashed = None
    if hashing is not None:
        signed = params.rerank == "signature"
        hashed = hashing.params(config.seed, plan.dimension, signatures=signed)
    of_vectors = setting.family is not None and family(setting.family).source == "vector"
    fields = config.fields if config.index is None else config.text_field
    source: dict[str, Any] = {
        "fields": None if fields is None else list(fields),
        "study": plan.name,
        "trial": pick.key,
    }
    if of_vectors:
        source["model"] = _model(config)
    learnt = ""
    if hashing is not None and setting.weighting == "idf":
        learnt = _digest_of((store.meta("learnt") or {}).get(hashing.name, ""))
    spec = replace(
        spec_of(setting),
        attributes=attributes_of(filters),
        stores_source=setting.fetch == "source",
        cached=True,
    )
    return Deployed(
        spec,
        params,
        hashed,
        learnt,
        source,
    )


def _digest_of(value: object) -> str:
    """The digest of learnt weights that a study noted, of which a file is named; else nothing."""
    return value if isinstance(value, str) and re.fullmatch("[0-9a-f]+", value) else ""


def several_filters(config: StudyConfig) -> bool:
    """Whether a study's settings are asked under more than one filter, or with and without."""
    return len(filters_of(config.filter)) > 1


def _model(config: StudyConfig) -> dict[str, Any] | None:
    """The model without this machine's paths; None where vectors came from a file."""
    from harness.collection.vectors import identity_of

    source = config.vector_source
    if source.vectors is not None:
        return None
    folder = Path(source.model).expanduser()
    return {
        "name": folder.resolve().name if folder.is_dir() else source.model,
        "in_folder": folder.is_dir(),
        "pooling": source.pooling,
        "query_instruction": source.query_instruction,
        "max_length": source.max_length,
        "identity": identity_of(source),
    }


def _of_engine(deployed: Deployed, version: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """`index.json` and `query.json`."""
    from indexers.backends._engine import Engine
    from indexers.backends._engine_deploy_body import production_body
    from indexers.backends._engine_template import example_documents, template

    engine = backend(deployed.spec.backend)(BackendConfig(url=NOWHERE))
    assert isinstance(engine, Engine)
    dimension = None if deployed.hashing is None else deployed.hashing.dimension
    examples = example_documents(deployed.spec, deployed.size, dimension)
    measured = engine.index_body(deployed.spec, examples, numbers_of(version))
    tag = {"manifest": deployed.manifest, "search": deployed.document["search"]}
    body = production_body(measured, deployed.spec, tag)
    shown = template(deployed.spec, deployed.search, deployed.size, dimension, engine.dialect)
    return body, shown


def numbers_of(version: str) -> tuple[int, ...]:
    """The first two numbers of a server's version."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def shown_command(command: str) -> str:
    """The command without credentials, and paths of this machine cut to their last part."""
    try:
        words = shlex.split(masked(command))
    except ValueError:
        return "harness tune"
    return one_line(shlex.join(_without_folders(word) for word in words))


def _without_folders(word: str) -> str:
    head, mark, value = word.partition("=") if word.startswith("--") else ("", "", word)
    if "://" in value or not value.startswith(("/", "~", "..")):
        return word
    return f"{head}{mark}{Path(value).name}"


def _json(told: Mapping[str, Any]) -> bytes:
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()
