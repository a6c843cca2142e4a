"""`harness clean` among indices that others named and tagged so as to be taken for ours.

On nodes of their own: the version before removed every index of an OpenSearch node here.
"""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.engine
COMMAND = Path(sys.executable).with_name("harness")
CREATED = "2026-01-01T00:00:00Z"
OTHERS = ("shop", "logs-2026.01", ".hidden-shop", "other-me-0123abcd", "harness")
OURS = {"harness-me-0000000a": "me", "harness-me-too-2026-0000000b": "me-too-2026"}

OWNERS_IN_NAMES = [
    "",
    "%2a%2c%2a%2c%2a",  # once decoded: *,*,*
    "%252a%252c%252a",  # twice
    "%2a",
    "%2c%2a%2c",
    "%2a%2c-harness",
    "_all",
    "%5fall",
    "..",
    ".",
    "%2e%2e%2f%2a",
    "%2f%2a",
    "x%2f..%2f%2a",
    "%3charness-%7bnow%2fd%7d%3e",
    "%3f%3f%3f",
    "%23",
    "%00",
    "%0a",
    "\u0430pple",  # Cyrillic
    "\uff4de",  # full width
    "m\u0117",
    "me\u200b",
    "\u202eem",
    "\x1b[31mme",
    "me\n",
    "m\te",
    "\u0661",  # a digit, not of ASCII
    "a" * 201,
    "me_too",
    "me.too",
    "me+too",
    "me&yes=1",
    "me;reboot",
    "$(reboot)",
    "`reboot`",
    "me'too",
    "me@home",
    "~me",
    "me=too",
    "{me}",
    "[a-z]",
    "me!",
    "(me)",
    "^me",
]
NAMES = [
    "harness-me",
    "harness-me-0000000",
    "harness-me-0000000000",
    "harness-me-0000000g",
    "harness-me-0000000\u0661",
    "harness-me-0000000\uff41",
    "harness-me-00000009-updates",
    "harness-00000009",
    "harness-notes",
]
TAGS = [
    {},
    None,
    7,
    True,
    "me",
    ["me"],
    {"owner": "me"},
    {"created": CREATED},
    {"owner": 7, "created": CREATED},
    {"owner": True, "created": CREATED},
    {"owner": None, "created": CREATED},
    {"owner": ["tag"], "created": CREATED},
    {"owner": {"tag": "tag"}, "created": CREATED},
    {"owner": "", "created": CREATED},
    {"owner": "*", "created": CREATED},
    {"owner": "tag\n", "created": CREATED},
    {"owner": "TAG", "created": CREATED},
    {"owner": "tag-", "created": CREATED},
    {"owner": "t" * 5000, "created": CREATED},
    {"owner": "tag", "created": 1767225600},
    {"owner": "tag", "created": ""},
    {"owner": "tag", "created": "yesterday"},
    {"owner": "tag", "created": "2026-1-1T0:0:0Z"},
    {"owner": "tag", "created": "2026-01-01T00:00:00+00:00"},
    {"owner": "tag", "created": CREATED, "manifest": {}},
]


def tagged(tag):
    return {"_meta": {"harness": tag}}


def ours(owner):
    return tagged({"owner": owner, "created": CREATED})


class Cluster:
    """Makes indices on a node, whatever their names, and tells which stand."""

    def __init__(self, node):
        self.node, self.before = node, {}

    def make(self, name, mappings=None, settings=None, aliases=None):
        """Make an index of one document; gives whether the engine takes such a name."""
        path = quote(name, safe="")
        body = {
            "settings": {"number_of_replicas": 0, **(settings or {})},
            "mappings": mappings or {},
            "aliases": aliases or {},
        }
        told = self.node("PUT", f"/{path}", body)
        if not told.get("acknowledged"):
            assert told["error"]["type"] == "invalid_index_name_exception", told
            return False
        self.node("PUT", f"/{path}/_doc/1?refresh=true", {"word": "x"})
        self.before[name] = self.uuids()[name]
        return True

    def uuids(self):
        reply = self.node("GET", "/*?expand_wildcards=all&filter_path=*.settings.index.uuid")
        return {name: told["settings"]["index"]["uuid"] for name, told in reply.items()}

    def block(self, names, blocked):
        for name in names:
            path = f"/{quote(name, safe='')}/_settings"
            assert self.node("PUT", path, {"index.blocks.metadata": blocked})["acknowledged"]

    def missing(self):
        now = self.uuids()
        return sorted(name for name, uuid in self.before.items() if now.get(name) != uuid)

    def remove_all(self):
        self.node("DELETE", "/_data_stream/harness-stream-0000000d")
        self.node("DELETE", "/_index_template/harness-stream")
        for name in self.uuids():
            self.node(
                "PUT", f"/{quote(name, safe='')}/_settings", {"index.blocks.read_only": False}
            )
            self.node("DELETE", f"/{quote(name, safe='')}?expand_wildcards=none")


@pytest.fixture
def cluster(own_node):
    made = Cluster(own_node)
    made.remove_all()
    yield made
    made.remove_all()


@pytest.fixture
def clean(engine, own_node, tmp_path):
    """Runs the command; gives what --json prints, and what it tells."""

    def run(*arguments, expect=0):
        environment = {k: v for k, v in os.environ.items() if not k.endswith("SEARCH_URL")}
        done = subprocess.run(
            [str(COMMAND), "clean", f"--{engine}-url", own_node.url, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        assert done.returncode == expect, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    return run


def make_others(cluster):
    for name in OTHERS:
        hidden = {"index.hidden": True} if name.startswith(".") else {}
        assert cluster.make(name, settings=hidden)


def make_hostile(cluster):
    """Everything that is not ours though it looks like it; gives how much the engine took."""
    count = 0
    for owner in OWNERS_IN_NAMES:
        count += cluster.make(f"harness-{owner}-00000009", ours(owner))
    for name in NAMES:
        count += cluster.make(name, ours("me"))
    for number, tag in enumerate(TAGS):
        count += cluster.make(f"harness-tag-{number:08x}", {} if tag is None else tagged(tag))
    return count


def test_nothing_of_other_people_s_is_removed_whatever_its_name_and_tag(cluster, clean):
    make_others(cluster)
    assert make_hostile(cluster) >= 60
    read_only, closed = OURS
    for name, owner in OURS.items():
        cluster.make(name, ours(owner))
    cluster.node("PUT", f"/{read_only}/_settings", {"index.blocks.read_only": True})
    cluster.node("POST", f"/{closed}/_close")
    out, told = clean("--yes", "--older-than", "0", "--json")
    assert cluster.missing() == sorted(OURS)
    assert "removed 2 of 2" in told
    rows = {row["index"]: row for row in json.loads(out)["indices"]}
    assert sorted(name for name, row in rows.items() if row["removed"]) == sorted(OURS)
    left = [name for name in cluster.before if name.startswith("harness-") and name not in OURS]
    for name in left:
        assert rows[name]["owner"] is None
        assert rows[name]["kept"].startswith("not ours, left: ")
    assert not set(OTHERS) & set(rows)
    # once more: nothing is left to remove, and nothing is claimed to have been
    out, told = clean("--yes", "--older-than", "0")
    assert "removed" not in told
    assert cluster.missing() == sorted(OURS)
    assert all(line.isprintable() for line in out.splitlines())
    assert len([line for line in out.splitlines() if "not ours, left" in line]) == len(left)


def test_a_name_of_ours_that_stands_for_another_index_removes_neither(cluster, clean):
    """An alias, and a data stream where the engine has them."""
    make_others(cluster)
    name = "harness-me-0000000a"
    cluster.make("shop-2", ours("me"), aliases={name: {}})
    stream = "harness-stream-0000000d"
    template = {
        "index_patterns": [stream],
        "data_stream": {},
        "template": {
            "settings": {"number_of_replicas": 0},
            "mappings": ours("stream"),
        },
    }
    cluster.node("PUT", "/_index_template/harness-stream", template)
    if cluster.node("PUT", f"/_data_stream/{stream}").get("acknowledged"):
        (backing,) = [one for one in cluster.uuids() if stream in one]
        cluster.before[backing] = cluster.uuids()[backing]
    for owner in ((), ("--owner", "me"), ("--owner", "stream")):
        clean("--yes", "--older-than", "0", *owner)
        assert cluster.missing() == []


@pytest.mark.parametrize("hidden", [False, True])
def test_one_of_ours_that_is_in_use_by_an_alias_or_hidden_is_left_and_said_how_to_remove(
    cluster, clean, hidden
):
    make_others(cluster)
    name = "harness-me-0000000a"
    settings, aliases = ({"index.hidden": True}, {}) if hidden else ({}, {"shop-live": {}})
    # the alias that a temporary index is made with is no sign of use
    cluster.make(name, ours("me"), settings, {f"{name}-updates": {}, **aliases})
    cluster.make("harness-me-0000000b", ours("me"), aliases={"harness-me-0000000b-updates": {}})
    out, told = clean("--yes", "--owner", "me")
    assert cluster.missing() == ["harness-me-0000000b"]
    assert "removed 1 of 1" in told
    row = next(line for line in out.splitlines() if line.startswith(f"{name} "))
    assert f"DELETE /{name}" in row
    assert hidden or f"shop-live: it may be in use; DELETE /{name} removes it, " in row
    assert hidden or f"or DELETE /{name}/_alias/shop-live and this command again" in row
    if not hidden:
        cluster.node("DELETE", f"/{name}/_alias/shop-live")
        clean("--yes", "--owner", "me")
        assert cluster.missing() == [name, "harness-me-0000000b"]


def test_a_block_on_one_index_keeps_no_other_from_being_removed(cluster, clean):
    """Its name goes into what the server tells, and must reach no terminal as it is."""
    make_others(cluster)
    cluster.make("harness-me-0000000a", ours("me"))
    cluster.make("harness-me-0000000b", ours("me"), aliases={"shop-live": {}})
    blocked = ["harness-logs", "harness-me-0000000c", "harness-\x1b]0;x\x07\x1b[2jred\n-0000000d"]
    for name in blocked:
        cluster.make(name, ours("me"))
    cluster.block(blocked, True)
    try:
        out, told = clean("--yes", "--older-than", "0")
        rows = {line.partition(" ")[0]: line for line in out.splitlines()}
        assert all(line.isprintable() for line in (*out.splitlines(), *told.splitlines()))
    finally:
        cluster.block(blocked, False)
    assert cluster.missing() == ["harness-me-0000000a"]
    assert "removed 1 of 1" in told
    assert "not ours, left: its name is not " in rows["harness-logs"]
    assert "not ours, left: it cannot be looked at: " in rows["harness-me-0000000c"]
    assert "it carries the alias shop-live" in rows["harness-me-0000000b"]


@pytest.mark.parametrize("tag", ['"\\ud800"', '{"\\udc00": 1}', "9" * 400])
def test_a_tag_that_cannot_be_read_hides_no_other_index(cluster, clean, tag):
    """With a closed one of ours, which has no counters to look at."""
    cluster.make("harness-me-0000000a", ours("me"))
    cluster.make("harness-me-0000000b", ours("me"))
    cluster.make("harness-logs", {"properties": {}})
    body = '{"mappings":{"_meta":{"harness":' + tag + "}}}"
    for name in ("harness-foreign-00000001", "harness-foreign"):
        url = f"{cluster.node.url}/{name}"
        headers = {"Content-Type": "application/json"}
        assert cluster.node.pool.request("PUT", url, body=body, headers=headers).status == 200
    cluster.node("POST", "/harness-me-0000000b/_close")
    cluster.block(["harness-logs"], True)
    try:
        out, told = clean("--yes", "--older-than", "0")
    finally:
        cluster.block(["harness-logs"], False)
    assert "removed 2 of 2" in told
    assert out.count("not ours, left: ") == 3
    left = cluster.node.indices("harness-*")
    assert left == ["harness-foreign", "harness-foreign-00000001", "harness-logs"]


def test_an_index_of_others_that_an_alias_brings_along_is_told_so(cluster, clean):
    cluster.make("products", aliases={"harness-live": {}})
    (line,) = [line for line in clean()[0].splitlines() if line.startswith("products ")]
    assert line.endswith("not ours, left: it is found by its alias 'harness-live'")
    assert cluster.missing() == []


@pytest.mark.parametrize("owner", ["*", "%2a", "me,*", "_all", "", "Me", "m\u00eb", "a" * 201])
def test_an_owner_that_is_none_is_refused(clean, cluster, owner):
    cluster.make("harness-me-0000000a", ours("me"))
    told = clean("--yes", "--owner", owner, expect=2)[1]
    assert told.startswith("harness: owner ")
    assert len(told.splitlines()) == 1
    assert cluster.missing() == []


def test_no_two_cases_are_the_same():
    names = [f"harness-{owner}-00000009" for owner in OWNERS_IN_NAMES] + NAMES
    assert len(set(names)) == len(names)
    assert not any(a == b for a, b in itertools.combinations(map(repr, TAGS), 2))
