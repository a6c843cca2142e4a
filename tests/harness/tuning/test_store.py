"""A study file holds what was put in, alone, and is refused when it is damaged."""

import multiprocessing
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness.settings import Setting
from harness.tuning.ownership import IDENTITY, is_own, noted, owner_tag
from harness.tuning.store import open_study
from harness.tuning.trial import Trial
from indexers.errors import HarnessError, SettingError, StudyError

ROW = Trial(
    key="0" * 16,
    setting=Setting("minhash", "tables", "lsh", 5, 2, 1024, "code", 3),
    baseline=False,
    status="ok",
    quality={"nDCG@10": 0.1 + 0.2, "R@10": None},
    measure_n={"nDCG@10": 7},
    latency_ms={"p99": 1.25, "max": None, "n": 3},
    upper_ms={"p99": None},
    flags=("cold", "errors"),
    null_ms={"latency": {"p99": 0.5}},
    remarks=("failed request: é",),
)


def test_rows_and_samples_come_back_to_the_last_digit(tmp_path):
    latency = np.array([0.1, np.inf, 3.0])
    query = np.array([2, 0, 1], dtype=np.int32)
    samples = {"latency_ms": latency, "service_ms": latency, "query": query, "answers": query}
    with open_study(tmp_path / "s") as store:
        store.put(ROW, samples)
        store.put_meta("fact", {"b": [1, None]})
    with open_study(tmp_path / "s") as store:
        assert store.trials() == {ROW.key: ROW}
        assert store.meta("fact") == {"b": [1, None]}
        assert store.meta("other") is None
        stored, rows = store.latencies(ROW.key)
    assert stored.tolist() == latency.tolist()
    assert rows.tolist() == query.tolist()


def test_nothing_is_left_of_a_study_that_ended_before_its_first_row(tmp_path):
    with suppress(HarnessError), open_study(tmp_path / "new" / "s"):
        (tmp_path / "new" / "s" / "truth").mkdir()
        raise HarnessError("bad corpus")
    assert not (tmp_path / "new").exists()


def test_the_users_own_files_stay(tmp_path):
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth" / "mine").write_text("precious")
    with pytest.raises(HarnessError), open_study(tmp_path):
        raise HarnessError("bad corpus")
    assert [path.name for path in tmp_path.rglob("*")] == ["truth", "mine"]


def test_a_note_of_what_may_stand_on_a_server_outlives_its_run(tmp_path):
    with suppress(HarnessError), open_study(tmp_path / "s") as store:
        store.put_meta("standing", [{"backend": "opensearch"}])
        raise HarnessError("engine gone")
    with open_study(tmp_path / "s") as store:
        store.clear()
        assert store.meta("standing") == [{"backend": "opensearch"}]


def test_rows_stay_when_a_later_run_ends_in_an_error(tmp_path):
    with open_study(tmp_path / "s") as store:
        store.put(ROW)
    with pytest.raises(HarnessError), open_study(tmp_path / "s"):
        raise HarnessError("engine gone")
    with open_study(tmp_path / "s") as store:
        assert list(store.trials()) == [ROW.key]


def test_a_damaged_file_is_refused_and_replaced_on_request(tmp_path):
    (tmp_path / "study.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StudyError, match=r"damaged.*--fresh"), open_study(tmp_path):
        pass
    with open_study(tmp_path, replace_damaged=True) as store:
        assert store.trials() == {}


def _hold(folder, held, done):
    with open_study(folder):
        held.set()
        done.wait(20)


def test_two_runs_do_not_share_a_study(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    held, done = spawn.Event(), spawn.Event()
    other = spawn.Process(target=_hold, args=(tmp_path, held, done))
    other.start()
    try:
        assert held.wait(20)
        with pytest.raises(StudyError, match="in use"), open_study(tmp_path):
            pass
    finally:
        done.set()
        other.join(20)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="--out"), open_study(tmp_path / "file" / "s"):
        pass


def test_a_study_is_known_by_a_number_of_its_own_as_long_as_it_lives(tmp_path):
    with open_study(tmp_path / "a") as one, open_study(tmp_path / "b") as other:
        drawn = one.identity()
        assert len(drawn) == 16
        assert drawn != other.identity()
        one.clear()
        assert one.identity() == drawn
    with open_study(tmp_path / "a") as one:
        assert one.identity() == drawn


def test_two_studies_at_one_place_of_two_hosts_of_one_name_mark_what_they_make_apart(tmp_path):
    plan = SimpleNamespace(name="catalogue-300-0123abcd", folder=tmp_path / "a")
    tags = []
    for _ in range(2):  # the same path, as two containers see it, each with a volume of its own
        with open_study(plan.folder) as store:
            tags += [owner_tag(plan.name, store.identity(), plan.folder) for _ in range(2)]
            assert is_own(tags[-1], store.identity(), plan.folder)
            assert is_own(f"another-study-{tags[-1][-16:]}", store.identity(), plan.folder)
        shutil.copytree(plan.folder, tmp_path / "copy", dirs_exist_ok=True)
        shutil.rmtree(plan.folder)
    assert tags[0] == tags[1] != tags[2] == tags[3]
    moved = SimpleNamespace(name=plan.name, folder=tmp_path / "copy")
    with open_study(moved.folder) as store:
        assert owner_tag(moved.name, store.identity(), moved.folder) not in tags
        assert not any(is_own(tag, store.identity(), moved.folder) for tag in tags)


@pytest.mark.parametrize(
    "entry",
    [
        {"backend": "opensearch", "server": "h:1", "owner": "%2a"},
        {"backend": "opensearch", "server": "h:1", "owner": ["me"]},
        {"backend": "opensearch", "server": "h:1"},
        {"backend": "opensearch", "server": "h\x1b[2J:1", "owner": "me"},
        {"backend": "opensearch", "server": 7, "owner": "me"},
        {"backend": "shop", "server": "h:1", "owner": "me"},
        {"backend": [], "server": "h:1", "owner": "me"},
        "me",
        None,
    ],
)
def test_a_note_that_no_study_writes_is_passed_over(entry):
    fine = {"backend": "opensearch", "server": "h:1", "owner": "me"}
    assert [one.owner for one in noted([entry, fine])] == ["me"]
    assert noted(entry) == []


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE trials (number INTEGER, value REAL)",
        "CREATE TABLE meta (name TEXT, value TEXT, more TEXT)",
        "CREATE TABLE notes (text TEXT)",
        "CREATE TABLE meta (name TEXT, value TEXT); CREATE TABLE customers (name TEXT)",
        "CREATE VIEW meta AS SELECT 'format' AS name, 1 AS value",
    ],
)
@pytest.mark.parametrize("fresh", [False, True])
def test_a_database_of_another_program_is_left_as_it_is(tmp_path, schema, fresh):
    path = tmp_path / "study.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(schema)
    before = path.read_bytes()
    told = "is a database of another program.*--out"
    with pytest.raises(StudyError, match=told), open_study(tmp_path, replace_damaged=fresh):
        pass
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["study.sqlite"]


def test_a_study_that_was_looked_at_with_other_tools_stays_one(tmp_path):
    with open_study(tmp_path) as store:
        store.put(ROW)
    with closing(sqlite3.connect(tmp_path / "study.sqlite")) as db:
        db.executescript("ANALYZE; CREATE TABLE notes (text TEXT);")
    with open_study(tmp_path) as store:
        assert list(store.trials()) == [ROW.key]


def test_an_identity_that_none_draws_is_drawn_anew(tmp_path):
    for value in ("../../x", 7, "\ud800", "0123456789ABCDEF"):
        with open_study(tmp_path) as store:
            store.put_meta("identity", value)
            assert IDENTITY.fullmatch(store.identity())
            assert store.identity() == store.identity()


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_study_file_that_is_another_s_too_is_not_written_into(tmp_path, link, fresh):
    with open_study(tmp_path / "other") as store:
        store.put(ROW)
    path = tmp_path / "mine" / "study.sqlite"
    path.parent.mkdir()
    link(path, tmp_path / "other" / "study.sqlite")
    told = "is a link, or has a second name.*put a copy in its place"
    with pytest.raises(StudyError, match=told), open_study(path.parent, replace_damaged=fresh):
        pass
    path.unlink()
    shutil.copy(tmp_path / "other" / "study.sqlite", path)
    with open_study(path.parent) as store:
        assert list(store.trials()) == [ROW.key]


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_a_journal_that_is_no_plain_file_is_told(tmp_path, end):
    with open_study(tmp_path):
        pass
    os.mkfifo(tmp_path / f"study.sqlite{end}")
    told = "journal that is a link or no plain file"
    with pytest.raises(StudyError, match=told), open_study(tmp_path, replace_damaged=True):
        pass


def test_a_study_that_another_program_holds_is_not_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.1))
    with open_study(tmp_path) as store:
        store.put(ROW)
    with closing(sqlite3.connect(tmp_path / "study.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        told = "cannot be opened.*no other program holds it"
        with pytest.raises(StudyError, match=told), open_study(tmp_path, replace_damaged=True):
            pass
    with open_study(tmp_path) as store:
        assert list(store.trials()) == [ROW.key]


def test_a_damaged_file_that_is_replaced_is_kept(tmp_path):
    for number in (1, 2):
        (tmp_path / "study.sqlite").write_bytes(b"precious %d" % number * 100)
        with open_study(tmp_path, replace_damaged=True) as store:
            assert store.trials() == {}
        kept = tmp_path / f"study.sqlite.damaged-{number}"
        assert kept.read_bytes() == b"precious %d" % number * 100


def test_a_lock_file_of_a_user_stays_and_a_link_is_not_followed(tmp_path):
    mine = tmp_path / "a" / ".lock"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(HarnessError), open_study(mine.parent):
        raise HarnessError("bad corpus")
    assert mine.read_text() == "mine"
    linked = tmp_path / "b" / ".lock"
    linked.parent.mkdir()
    linked.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingError, match="cannot be written"), open_study(linked.parent):
        pass
    assert not (tmp_path / "elsewhere").exists()
