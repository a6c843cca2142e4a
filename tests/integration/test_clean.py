"""`harness clean` on a real node: what is listed, what goes, and what never does.

Every call that removes names the owner of this test: the node is shared with others.
"""

import json
import os
import pty
import secrets
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness import cleaning
from harness.cleaning import Server, remove, without_young
from harness.tuning import store
from harness.tuning.ownership import owner_tag
from harness.tuning.work import WORK
from indexers.errors import BackendError
from indexers.index_types import BackendConfig

pytestmark = pytest.mark.engine
COMMAND = Path(sys.executable).with_name("harness")
OWNER = f"test-clean-{os.getpid()}-{secrets.token_hex(2)}"
OURS = f"harness-{OWNER}-0123abcd"
TAG = {"_meta": {"harness": {"owner": OWNER, "created": "2026-01-01T00:00:00Z"}}}


@pytest.fixture
def make(node):
    """Makes indices of three documents, and takes them away at the end."""
    made = []

    def index(name, mappings=TAG, documents=3):
        made.append(name)
        body = {"settings": {"number_of_replicas": 0}, "mappings": mappings}
        assert node("PUT", f"/{name}", body).get("acknowledged")
        for number in range(documents):
            node("PUT", f"/{name}/_doc/{number}?refresh=true", {"word": "x"})
        return name

    yield index
    for name in made:
        node("PUT", f"/{name}/_settings", {"index.blocks.read_only": False})
        node("DELETE", f"/{name}")


@pytest.fixture
def clean(engine, node, tmp_path):
    """Runs the command in an empty folder, with the reports in it."""

    def run(*arguments, owner=OWNER, expect=0, url=node.url, **more):
        command = [str(COMMAND), "clean", *arguments]
        command += ["--owner", owner] if owner else []
        environment = {k: v for k, v in os.environ.items() if not k.endswith("SEARCH_URL")}
        environment[f"HARNESS_{engine.upper()}_URL"] = url
        options = {"stdin": subprocess.DEVNULL, "env": environment, **more}
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, timeout=60, **options
        )
        assert done.returncode == expect, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    return run


def test_it_lists_and_without_yes_removes_nothing(make, clean, node):
    make(OURS)
    out, told = clean()
    row = next(line for line in out.splitlines() if line.startswith(OURS))
    assert row.split()[:3] == [OURS, node.url, OWNER]
    assert " 3  " in row
    assert "--yes removes what is listed" in told
    assert node.indices(f"harness-{OWNER}-*") == [OURS]


def test_yes_removes_what_carries_the_tag_and_a_name_of_ours_and_nothing_else(make, clean, node):
    another = {"_meta": {"harness": {**TAG["_meta"]["harness"], "owner": f"{OWNER}-b"}}}
    theirs = [
        make(f"harness-{OWNER}-b-0123abcd", another),  # another owner's
        make(f"harness-{OWNER}-89abcdef", {}),  # our name without a tag
        make(f"harness-{OWNER}-01234567", another),  # our name, another's tag
        make(f"harness-{OWNER}-notours"),  # our tag, no name of ours
        make(f"other-{OWNER}-0123abcd"),
        make(f"harness-{OWNER}-77777777", {"_meta": {"harness": "a word"}}),
    ]
    ours = [make(OURS), make(f"harness-{OWNER}-fedcba98", documents=0)]
    node("PUT", f"/{OURS}/_settings", {"index.blocks.read_only": True})
    listed = json.loads(clean("--json")[0])["indices"]
    assert sorted(one["index"] for one in listed if one["owner"]) == sorted(ours)
    # what begins as ours do is told, and why it is not ours
    kept = {one["index"]: one["kept"] for one in listed if not one["owner"]}
    assert sorted(kept) == sorted(set(theirs) - {theirs[0], f"other-{OWNER}-0123abcd"})
    assert all(reason.startswith("not ours, left: ") for reason in kept.values())
    assert not any(one["removed"] for one in listed)
    out, told = clean("--yes")
    assert f"removed {len(ours)} of {len(ours)}" in told
    assert out.count("not ours, left: ") == len(kept)
    assert set(node.indices(f"*{OWNER}*")) == set(theirs)
    assert "removed" not in clean("--yes")[1]


def test_json_tells_all_that_is_known(engine, make, clean, node):
    make(OURS)
    (one,) = json.loads(clean("--json")[0])["indices"]
    assert one["size_bytes"] > 0
    assert one["created"].startswith("20")
    told = node("GET", f"/{OURS}/_settings")[OURS]["settings"]["index"]
    assert one["uuid"] == told["uuid"]
    del one["size_bytes"], one["created"], one["uuid"]
    assert one == {
        "backend": engine,
        "server": node.url,
        "index": OURS,
        "owner": OWNER,
        "documents": 3,
        "in_use": None,
        "kept": None,
        "removed": False,
    }
    assert json.loads(clean("--json", "--yes")[0])["indices"][0]["removed"] is True
    assert node.indices(f"harness-{OWNER}-*") == []


@pytest.mark.parametrize(("answer", "left"), [("n", [OURS]), ("y", [])])
def test_a_terminal_is_asked(make, clean, node, answer, left):
    make(OURS)
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    try:
        told = clean(stdin=theirs)[1]
    finally:
        os.close(ours)
        os.close(theirs)
    assert "Remove this?" in told
    assert node.indices(f"harness-{OWNER}-*") == left


def test_what_is_searched_right_now_stays_with_all_of_its_owner(make, clean, node):
    quiet = make(f"harness-{OWNER}-11111111")
    make(OURS)
    stop = threading.Event()

    def ask():
        while not stop.wait(0.05):
            node("GET", f"/{OURS}/_search")

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        out = clean("--yes")[0]
    finally:
        stop.set()
        asking.join()
    assert out.count("in use by requests right now") == 2
    assert node.indices(f"harness-{OWNER}-*") == sorted([quiet, OURS])


def test_what_a_running_study_of_the_reports_holds_stays(engine, make, clean, node, tmp_path):
    make(OURS)
    folder = tmp_path / "reports" / "mine"
    place = node.url.removeprefix("http://")
    with store.open_study(folder) as held:
        noted = {"backend": engine, "server": place, "owner": OWNER}
        held.put_meta("standing", [noted])
        (folder / WORK).mkdir()
        assert f"in use by {folder.relative_to(tmp_path)}" in clean("--yes")[0]
        assert clean("--json", owner="test-clean-nobody")[0].count(WORK) == 0
        assert node.indices(f"harness-{OWNER}-*") == [OURS]
    assert (folder / WORK).is_dir()
    out, told = clean("--json", "--yes")
    assert json.loads(out)["folders"] == []  # an owner names indices alone
    assert node.indices(f"harness-{OWNER}-*") == []
    assert "may also stand" not in told


def test_a_young_index_of_which_nothing_is_known_stays(engine, make, node):
    server = Server(engine, BackendConfig(url=node.url))
    make(OURS)
    (one,) = server.leftovers(OWNER, {})
    (young,) = without_young([one], set(), 1.0)
    assert not young.free
    assert young.kept.endswith(f"--owner {OWNER} removes it")
    assert remove(server, [young], pytest.fail) == [young]
    assert node.indices(f"harness-{OWNER}-*") == [OURS]
    for known, hours in (({OWNER}, 1.0), (set(), 0.0)):
        assert without_young([one], known, hours) == [one]
    (gone,) = remove(server, without_young([one], {OWNER}, 1.0), pytest.fail)
    assert gone.removed
    assert node.indices(f"harness-{OWNER}-*") == []


def test_the_command_keeps_a_young_index_and_removes_what_a_stopped_study_left(
    engine, make, clean, node, tmp_path
):
    make(OURS)
    # with this age, and without an owner, nothing but what the reports know can be removed
    ages = ("--older-than", "1000000", "--json", "--yes")

    def listed():
        found = json.loads(clean(*ages, owner=None)[0])["indices"]
        return next(one for one in found if one["index"] == OURS)

    assert listed()["kept"].startswith("younger than 1e+06 h")
    assert node.indices(f"harness-{OWNER}-*") == [OURS]
    place = node.url.removeprefix("http://")
    folder = tmp_path / "reports" / "mine"
    with store.open_study(folder) as held:
        held.put_meta("standing", [{"backend": engine, "server": place, "owner": OWNER}])
        assert listed()["in_use"] == "reports/mine"
        owner = owner_tag(OWNER, held.identity(), folder)
    # a note of another's tag, as in a file that was copied or sent, proves nothing
    assert listed()["kept"].startswith("younger than")
    own = f"harness-{owner}-0123abcd"
    make(own, {"_meta": {"harness": {**TAG["_meta"]["harness"], "owner": owner}}})
    with store.open_study(folder) as held:
        held.put_meta("standing", [{"backend": engine, "server": place, "owner": owner}])
    clean(*ages, owner=None)
    assert node.indices(f"harness-{OWNER}-*") == [OURS]


def test_a_merge_or_a_request_in_flight_is_work():
    def counts(**current):
        quiet = {"search": {"query_total": 7, "query_current": 0}, "merges": {"current": 0}}
        return {"total": {name: group | current for name, group in quiet.items()}}

    assert not cleaning._in_flight(counts())
    assert not cleaning._in_flight(counts(query_total=9))
    assert cleaning._in_flight({"total": {"merges": {"current": 1}}})
    assert cleaning._in_flight({"total": {"search": {"fetch_current": 2}}})


def test_servers_of_a_study_s_notes_are_named(engine, clean, tmp_path):
    with store.open_study(tmp_path / "reports" / "mine") as held:
        noted = {"backend": engine, "server": "127.0.0.1:1", "owner": OWNER}
        held.put_meta("standing", [noted])
    told = clean()[1]
    assert f"may also stand on 127.0.0.1:1: name it with --{engine}-url" in told


def test_an_index_that_is_gone_or_changed_hands_meanwhile(engine, make, node):
    server = Server(engine, BackendConfig(url=node.url))
    make(OURS)
    (one,) = server.leftovers(OWNER, {})
    node("DELETE", f"/{OURS}")
    assert not server.remove(one)
    (told,) = remove(server, [one], pytest.fail)
    assert (told.removed, told.kept) == (False, cleaning.GONE)
    make(OURS)  # the same owner's, and not the one that was listed
    with pytest.raises(BackendError, match="another index has taken its name"):
        server.remove(one)
    assert node.indices(f"harness-{OWNER}-*") == [OURS]


def test_one_that_was_put_to_use_after_it_was_listed_stays(engine, make, node):
    server = Server(engine, BackendConfig(url=node.url))
    make(OURS)
    (one,) = server.leftovers(OWNER, {})
    node("PUT", f"/{OURS}/_alias/shop-{OWNER}")
    with pytest.raises(BackendError, match=f"carries the alias shop-{OWNER}"):
        server.remove(one)
    assert node.indices(f"harness-{OWNER}-*") == [OURS]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:1", "no answer from http://127.0.0.1:1: "),
        ("ftp://me:secret@here", "{engine} URL 'ftp://***@here' is not understood"),
    ],
)
def test_a_server_that_cannot_be_asked(engine, clean, url, told):
    error = clean(expect=2, url=url)[1]
    assert error.startswith(f"harness: {told.format(engine=engine)}")
    assert len(error.splitlines()) == 1
    assert "secret" not in error
