"""Which index is ours, and what is sent to remove one."""

import pytest

from indexers.backends import _engine_temporary as temporary
from indexers.backends._engine_errors import Refused
from indexers.errors import BackendError, IndexMissing

NAME, OWNER, UUID = "harness-me-0123abcd", "me", "u1"
TAG = {"owner": OWNER, "created": "2026-01-02T03:04:05Z"}
LOOK = (
    f"/{NAME}?expand_wildcards=none&filter_path=*.aliases,*.mappings._meta.harness,"
    "*.settings.index.uuid,*.settings.index.hidden,*.settings.index.creation_date,*.data_stream"
)
LOOKED, REMOVED = ("GET", LOOK), ("DELETE", f"/{NAME}?expand_wildcards=none")
UNLOCKED = ("PUT", f"/{NAME}/_settings?expand_wildcards=none")


def index(uuid=UUID, tag=TAG, aliases=(), **settings):
    return {
        "aliases": {alias: {} for alias in aliases},
        "mappings": {"_meta": {"harness": tag}},
        "settings": {"index": {"uuid": uuid, "creation_date": "1767225600000", **settings}},
    }


class Server:
    """Answers looks with these replies in turn, and removals as it is told."""

    def __init__(self, *looks, removals=()):
        self.looks, self.removals, self.sent = list(looks), list(removals), []

    def __call__(self, request, *, what, timeout_s=0):
        assert what
        assert timeout_s == temporary.REMOVAL_LIMIT_S
        self.sent.append((request.method, request.target))
        queue = {"GET": self.looks, "DELETE": self.removals}.get(request.method, [])
        reply = queue.pop(0) if queue else {"acknowledged": True}
        if isinstance(reply, Exception):
            raise reply
        return reply


MISSING = Refused("no such index", 404)
LOCKED = Refused("blocked by: [FORBIDDEN/5/index read-only (api)]", 403)
HERE = {NAME: index()}


def test_a_removal_looks_before_and_after():
    server = Server(HERE, MISSING)
    assert temporary.remove(server, NAME, OWNER, UUID)
    assert server.sent == [LOOKED, REMOVED, LOOKED]


def test_what_is_gone_already_is_not_said_to_be_removed():
    server = Server(MISSING)
    assert not temporary.remove(server, NAME, OWNER, UUID)
    assert server.sent == [LOOKED]


def test_a_read_only_index_is_unlocked_and_looked_at_again():
    server = Server(HERE, HERE, MISSING, removals=[LOCKED])
    assert temporary.remove(server, NAME, OWNER)
    assert server.sent == [LOOKED, REMOVED, UNLOCKED, LOOKED, REMOVED, LOOKED]


def test_one_that_changed_hands_while_it_was_unlocked_stays():
    server = Server(HERE, {NAME: index("u2")}, removals=[LOCKED])
    with pytest.raises(BackendError, match="another index has taken its name"):
        temporary.remove(server, NAME, OWNER)
    assert server.sent == [LOOKED, REMOVED, UNLOCKED, LOOKED]


def test_an_acknowledged_removal_that_removed_nothing_is_told():
    with pytest.raises(BackendError, match="still stands after its removal: run again"):
        temporary.remove(Server(HERE, HERE), NAME, OWNER)


def test_what_someone_else_removed_in_between_is_not_counted_as_ours():
    server = Server(HERE, MISSING, removals=[MISSING])
    assert not temporary.remove(server, NAME, OWNER, UUID)
    assert server.sent == [LOOKED, REMOVED, LOOKED]


def test_what_is_kept_is_looked_for_at_the_last_moment():
    def kept(one):
        return "it carries an alias" if one.aliases else None

    server = Server({NAME: index(aliases=["shop"])})
    with pytest.raises(BackendError, match=f"{NAME} is not removed: it carries an alias"):
        temporary.remove(server, NAME, OWNER, UUID, kept)
    server = Server(HERE, {NAME: index(aliases=["shop"])}, removals=[LOCKED])
    with pytest.raises(BackendError, match="it carries an alias"):
        temporary.remove(server, NAME, OWNER, UUID, kept)
    assert REMOVED not in server.sent[2:]


def test_another_index_under_the_name_afterwards_is_not_ours_to_tell_of():
    assert temporary.remove(Server(HERE, {NAME: index("u2", {})}), NAME, OWNER)


@pytest.mark.parametrize("aliases", [[], ["shop"], [f"{NAME}-updates", "shop", "a*"]])
def test_a_study_removes_what_it_made_whatever_alias_it_carries(aliases):
    for tag in (TAG, None, {**TAG, "team": "search"}, {**TAG, "owner": "you"}):
        there = {NAME: index(tag=tag, aliases=aliases, hidden="true")}
        assert temporary.remove_made(Server(there, MISSING), NAME, OWNER, UUID)


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ({NAME: index("u2")}, "another index has taken its name"),
        ({"shop": index()}, "the name stands for 'shop'"),
    ],
)
def test_a_study_removes_nothing_else(there, told):
    server = Server(there)
    with pytest.raises(BackendError, match=told):
        temporary.remove_made(server, NAME, OWNER, UUID)
    with pytest.raises(BackendError, match="is no name of owner"):
        temporary.remove_made(server, "shop", OWNER, UUID)
    assert server.sent == [LOOKED]


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ({NAME: index("u2")}, "another index has taken its name"),
        ({NAME: index(tag=None)}, "it has no owner tag"),
        ({NAME: index(tag={**TAG, "owner": "you"})}, "its owner tag does not fit its name"),
        ({NAME: index(tag={**TAG, "owner": ["me"]})}, "its owner tag does not fit its name"),
        ({NAME: index(tag={"owner": OWNER})}, "its owner tag is none that harness writes"),
        ({NAME: index(tag={**TAG, "more": 1})}, "its owner tag is none that harness writes"),
        ({NAME: index(tag={**TAG, "created": "now"})}, "its owner tag is none that harness writes"),
        ({NAME: index(uuid=None)}, "the server tells no uuid of it"),
        ({NAME: {**index(), "data_stream": "logs"}}, "it belongs to a data stream"),
        ({NAME: "nonsense"}, "it has no owner tag"),
        ({"shop": index()}, "the name stands for 'shop'"),
        ({"shop": index(), "goods": index()}, "the name stands for 'goods', 'shop'"),
    ],
)
def test_nothing_else_is_removed(there, told):
    server = Server(there)
    with pytest.raises(BackendError, match=told):
        temporary.remove(server, NAME, OWNER, UUID)
    assert server.sent == [LOOKED]


@pytest.mark.parametrize(
    "name",
    [
        *("shop", "*", "_all", "harness-*", f"{NAME},shop", f"{NAME}\n", f"{NAME}/_doc/1"),
        *("harness-%2a-0123abcd", "harness-you-0123abcd", "harness-me-0123ABCD", "harness-me", ""),
    ],
)
def test_a_name_of_others_is_not_even_looked_at(name):
    server = Server()
    with pytest.raises(BackendError, match="is no name of owner 'me'"):
        temporary.remove(server, name, OWNER)
    assert server.sent == []


def test_all_of_an_owner_are_removed_one_by_one_by_their_uuids():
    other = "harness-me-89abcdef"
    listed = {
        NAME: index(),
        other: index("u9"),
        "harness-me-x-0123abcd": index(tag={**TAG, "owner": "me-x"}),
        "harness-me-%2a-0123abcd": index(),
        "shop": index(),
    }
    server = Server(listed, HERE, MISSING, {other: index("u9")}, MISSING)
    assert temporary.remove_all(server, OWNER) == [NAME, other]
    assert server.sent[0] == ("GET", LOOK.replace(NAME, "harness-me-*").replace("none", "all"))
    removed = [target for method, target in server.sent if method == "DELETE"]
    assert removed == [f"/{name}?expand_wildcards=none" for name in (NAME, other)]


def test_what_is_found_is_told_whole():
    there = {
        NAME: index(aliases=[f"{NAME}-updates", "shop", "a"], hidden="true"),
        "harness-notes": {"settings": {"index": {"uuid": 7, "creation_date": "9" * 40}}},
    }
    ours, theirs = temporary.found(Server(there))
    assert ours == temporary.Found(NAME, UUID, OWNER, None, ("a", "shop"), True, 1767225600000)
    assert theirs.owner is None
    assert (theirs.uuid, theirs.created_ms) == ("", None)
    assert theirs.problem == "its name is not harness-OWNER-XXXXXXXX"


def test_a_block_on_one_index_hides_none_of_the_others():
    blocked = Refused("cluster_block_exception: blocked by: metadata", 403)
    names = ["harness-logs", NAME, "harness-me-%2a-0123abcd", "harness-x-0123abcd", "shop"]
    resolved = {"indices": [{"name": name} for name in names] + ["odd", {"aliases": []}]}
    server = Server(blocked, resolved, HERE, blocked)
    there = {one.name: one for one in temporary.found(server)}
    assert sorted(there) == sorted(names)
    assert [name for name, one in there.items() if one.owner is not None] == [NAME]
    assert there["harness-x-0123abcd"].problem.startswith("it cannot be looked at: cluster_block")
    assert ("GET", "/_resolve/index/harness-*?expand_wildcards=all") in server.sent
    assert len(server.sent) == 4  # names that are none of ours go into no request
    for refusals in ([Refused("busy", 429)], [Refused("busy", 403), Refused("no right", 403)]):
        with pytest.raises(Refused, match="busy"):
            temporary.found(Server(*refusals))


def test_what_an_alias_or_a_data_stream_brings_along_is_told_so():
    there = {
        "products": index(aliases=["harness-live", "shop"]),
        ".ds-harness-logs-000001": {**index(), "data_stream": "harness-logs"},
    }
    stream, products = temporary.found(Server(there))
    assert (stream.owner, stream.problem) == (None, "it belongs to a data stream")
    assert (products.owner, products.problem) == (None, "it is found by its alias 'harness-live'")


def test_an_index_that_was_just_made_is_looked_at():
    there = temporary.made(Server(HERE), NAME)
    temporary.check_made(there, OWNER)
    assert there.uuid == UUID
    with pytest.raises(IndexMissing, match="someone removed it as soon as it was made"):
        temporary.made(Server(MISSING), NAME)
    changed = {NAME: index(tag={**TAG, "team": "search"})}
    with pytest.raises(BackendError, match=r"not as it was made: .* none .* template"):
        temporary.check_made(temporary.made(Server(changed), NAME), OWNER)
