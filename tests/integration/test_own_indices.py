"""A study removes what it made, by uuid, whatever became of it; and nothing that others made."""

import json
import os
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from harness.tuning.ownership import owner_tag
from indexers.errors import BackendError
from indexers.index_types import Documents, IndexSpec
from indexers.types import Fingerprints

pytestmark = pytest.mark.engine
OWNER = f"own-{os.getpid()}"
LSH = IndexSpec("engine", "lsh", "simhash", 4, (8,), 128)
SMALL = (
    *("--corpus", "catalogue:300", "--family", "simhash", "--kind", "lsh", "--rate", "100"),
    *("--num-tables", "2", "--hash-length", "4", "--sla-ms", "5000"),
)


def documents(n=50):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 256, (n, 16), dtype=np.uint8)
    keys = rng.integers(0, 2**32, (4, 1, n), dtype=np.uint32)
    made = Fingerprints(np.zeros(n, np.uint8), codes, keys, "bit")
    return Documents([f"d{i:06d}" for i in range(n)], [""] * n, made)


def mapping(owner):
    tag = {"owner": owner, "created": "2026-01-01T00:00:00Z"}
    return {"settings": {"number_of_replicas": 0}, "mappings": {"_meta": {"harness": tag}}}


def test_an_index_goes_whatever_was_done_to_it(backend, node, tmp_path):
    handle = backend.build(LSH, documents(), tmp_path)
    name = handle.location
    assert handle.uuid == node("GET", f"/{name}/_settings")[name]["settings"]["index"]["uuid"]
    node("PUT", f"/{name}/_alias/shop-{OWNER}")
    node("PUT", f"/{name}/_settings", {"index.hidden": True})
    node("PUT", f"/{name}/_settings", {"index.blocks.read_only": True})
    backend.drop(handle)
    assert node("GET", f"/{name}")["status"] == 404
    backend.drop(handle)  # gone already


def test_an_index_that_a_template_changed_is_refused_at_once_and_removed(backend, node, tmp_path):
    """It would not be known again after a kill."""
    body = {"mappings": {"_meta": {"harness": {"team": "search"}}}}
    template = {"index_patterns": [f"harness-{OWNER}-*"], "priority": 950, "template": body}
    assert node("PUT", f"/_index_template/{OWNER}", template)["acknowledged"]
    try:
        with pytest.raises(BackendError, match=r"not as it was made: its owner tag is .*template"):
            backend.build(LSH, documents(), tmp_path)
        assert node.indices(f"harness-{OWNER}-*") == []
    finally:
        node("DELETE", f"/_index_template/{OWNER}")


def test_an_index_whose_tag_was_taken_away_goes_all_the_same(backend, node, tmp_path):
    handle = backend.build(LSH, documents(), tmp_path)
    node("PUT", f"/{handle.location}/_mapping", {"_meta": {"owner": "someone"}})
    assert backend.sweep() == []
    backend.drop(handle)
    assert node("GET", f"/{handle.location}")["status"] == 404


def test_another_index_that_took_the_name_stays(backend, node, tmp_path):
    handle = backend.build(LSH, documents(), tmp_path)
    name = handle.location
    node("DELETE", f"/{name}")
    assert node("PUT", f"/{name}", mapping(OWNER))["acknowledged"]
    try:
        with pytest.raises(BackendError, match="another index has taken its name"):
            backend.drop(handle)
        assert node.indices(f"{name}*") == [name]
        node("DELETE", f"/{name}")
        node("PUT", f"/shop-{OWNER}", {**mapping(OWNER), "aliases": {name: {}}})
        with pytest.raises(BackendError, match=f"the name stands for 'shop-{OWNER}'"):
            backend.drop(handle)
        assert backend.sweep() == []
        assert node.indices(f"shop-{OWNER}") == [f"shop-{OWNER}"]
    finally:
        node("DELETE", f"/{name}?ignore_unavailable=true")
        node("DELETE", f"/shop-{OWNER}")


def standing(path, entries=None):
    """What a study file notes; first replaced by these entries."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if entries is not None:
            told = json.dumps(entries)
            db.execute("UPDATE meta SET value = ? WHERE name = 'standing'", (told,))
        ((value,),) = db.execute("SELECT value FROM meta WHERE name = 'standing'").fetchall()
    return json.loads(value)


def test_a_study_file_that_names_another_s_index_removes_nothing(study, engine, node):
    """As one does that was copied while its original runs, or that came from someone else."""
    made = study(*SMALL, "--backend", engine, f"--{engine}-url", node.url)
    made.run()
    owner = f"{OWNER}-0123456789abcdef"
    theirs = f"harness-{owner}-0123abcd"
    node("PUT", f"/{theirs}", mapping(owner))
    try:
        place = node.url.removeprefix("http://")
        note = {"backend": engine, "server": place, "owner": owner}
        path = made.folder / "study.sqlite"
        standing(path, [note, {**note, "owner": "%2a%2c%2a"}, {"owner": "*"}])
        _, told = made.run()
        assert f"{theirs} at {place} is left" in told
        assert f"`harness clean --owner {owner}` removes it" in told
        assert node.indices(f"{theirs}*") == [theirs]
        assert standing(path) == [note]
        node("DELETE", f"/{theirs}")
        assert theirs not in made.run()[1]
        assert standing(path) == []
    finally:
        node("DELETE", f"/{theirs}?ignore_unavailable=true")


def test_a_copy_of_a_study_folder_removes_nothing_of_the_original(study, engine, node):
    made = study(*SMALL, "--backend", engine, f"--{engine}-url", node.url)
    made.run()
    place = node.url.removeprefix("http://")
    path = made.folder / "study.sqlite"
    with closing(sqlite3.connect(path)) as db:
        ((identity,),) = db.execute("SELECT value FROM meta WHERE name = 'identity'").fetchall()
    assert len(json.loads(identity)) == 16
    # the original's index, as it would be while it runs: its tag is of its own file and folder

    owner = owner_tag(OWNER, json.loads(identity), made.folder)
    running = f"harness-{owner}-0123abcd"
    node("PUT", f"/{running}", mapping(owner))
    try:
        standing(path, [{"backend": engine, "server": place, "owner": owner}])
        copy = made.folder.with_name("copy")
        shutil.copytree(made.folder, copy)
        made.command[made.command.index(str(made.folder))] = str(copy)
        assert f"{running} at {place} is left" in made.run()[1]
        assert node.indices(f"{running}*") == [running]
        made.command[made.command.index(str(copy))] = str(made.folder)
        assert f"removed {running}, left behind by an earlier run" in made.run()[1]
        assert node.indices(f"{running}*") == []
    finally:
        node("DELETE", f"/{running}?ignore_unavailable=true")
