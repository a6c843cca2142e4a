"""Which folders under the reports are left over, and which are not touched."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness import cleaning_folders
from harness.tuning import store, work
from harness.tuning.ownership import owner_tag
from harness.tuning.work import WORK, remove_work, work_folder

COMMAND = Path(sys.executable).with_name("harness")


def leave_work(folder):
    """A study in this folder that was killed: a work folder with 2,000 bytes is left."""
    with store.open_study(folder) as held:
        identity = held.identity()
    killed = work_folder(folder, identity, pytest.fail)
    work = killed.__enter__()
    (work / "index").mkdir()
    (work / "index" / "codes").write_bytes(b"x" * 2000)
    return killed  # kept by the caller: its end would remove the folder


@pytest.fixture
def reports(tmp_path):
    """Reports of a study that left its work folder behind."""
    killed = leave_work(tmp_path / "reports" / "killed")
    yield tmp_path / "reports"
    killed.gen.close()
    # no depth keeps this from it, as it would what removes the folders of tests
    subprocess.run(["rm", "-r", str(tmp_path / "reports")], check=True)


@pytest.fixture
def precious(tmp_path):
    """Someone else's folder and file, which must be there at the end."""
    folder = tmp_path / "outside"
    folder.mkdir()
    file = folder / "thesis"
    file.write_text("precious")
    before = file.stat().st_ino
    yield folder
    assert (file.read_text(), file.stat().st_ino) == ("precious", before)


def clean(reports, *arguments):
    done = subprocess.run(
        [str(COMMAND), "clean", "--reports", str(reports), *arguments],
        capture_output=True,
        text=True,
        cwd=reports.parent,
        stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr
    return done


def tree(folder):
    """Everything below a folder: what it is, and what it holds, links unfollowed."""
    found = subprocess.run(
        ["find", str(folder), "-printf", "%P %i %m %n %s\\n"], capture_output=True, check=True
    )
    return found.stdout


def test_the_work_folder_of_a_killed_study_is_left_over(reports):
    (found,) = cleaning_folders.work_folders(reports)
    assert (Path(found.path), found.size_bytes) == (reports / "killed" / WORK, 2000)
    assert cleaning_folders.remove_folder(found).removed
    assert sorted(p.name for p in (reports / "killed").iterdir()) == [".lock", "study.sqlite"]


def test_that_of_a_running_study_is_not(reports):
    (found,) = cleaning_folders.work_folders(reports)
    with store.open_study(reports / "killed"):
        assert cleaning_folders.work_folders(reports) == []
        assert not cleaning_folders.remove_folder(found).removed
        assert Path(found.path).is_dir()


def test_a_damaged_study_tells_nothing(reports):
    (reports / "killed" / "study.sqlite").write_bytes(b"no database")
    assert cleaning_folders.notes(reports / "killed").standing == ()
    (left,) = cleaning_folders.work_folders(reports)
    assert not left.free


def test_a_study_that_was_killed_while_it_wrote_is_known_all_the_same(reports):
    """Its journal is left; nothing is mended from here."""
    script = (
        "import os, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('PRAGMA cache_size = 1'); db.execute('BEGIN')\n"
        "for n in range(400):\n"
        "    db.execute('INSERT INTO meta VALUES (?, ?)', (f'x{n}', 'y' * 3000))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    path = reports / "killed" / "study.sqlite"
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert path.with_name("study.sqlite-journal").stat().st_size > 0
    (found,) = cleaning_folders.work_folders(reports)
    assert cleaning_folders.remove_folder(found).removed
    assert path.with_name("study.sqlite-journal").stat().st_size > 0


def test_the_command_lists_then_removes(reports):
    listed = clean(reports)
    assert listed.stdout == f"{reports}/killed/{WORK}  2.0 kB\n"
    assert "--yes removes what is listed" in listed.stderr
    assert (reports / "killed" / WORK).is_dir()
    assert "removed 1 of 1" in clean(reports, "--yes").stderr
    assert not (reports / "killed" / WORK).exists()
    assert clean(reports, "--yes").stdout == "nothing of harness is left\n"


# ---- what someone else put there


def not_a_study(folder, precious):
    (folder / "study.sqlite").write_text("mine")
    shutil.copytree(precious, folder / WORK)


def no_study(folder, precious):
    shutil.copytree(precious, folder / WORK)


def another_database(folder, precious):
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        db.execute("CREATE TABLE meta (name TEXT, value TEXT)")
    shutil.copytree(precious, folder / WORK)


def unmarked(folder, precious):
    with store.open_study(folder) as held:
        held.identity()
    shutil.copytree(precious, folder / WORK)


def marked_for_another(folder, precious):
    with store.open_study(folder) as held:
        held.identity()
    shutil.copytree(precious, folder / WORK)
    (folder / WORK / "study-0123456789abcdef").touch()


def mark_is_a_folder(folder, precious):
    with store.open_study(folder) as held:
        identity = held.identity()
    shutil.copytree(precious, folder / WORK / f"study-{identity}")


def mark_is_a_note(folder, _precious):
    marked(folder)
    (mark,) = (folder / WORK).iterdir()
    mark.write_text("precious")


def work_is_a_link(folder, precious):
    with store.open_study(folder) as held:
        (precious / f"study-{held.identity()}").touch()
    (folder / WORK).symlink_to(precious)


def work_is_a_file(folder, precious):
    with store.open_study(folder) as held:
        held.identity()
    os.link(precious / "thesis", folder / WORK)


def link_within(folder, precious):
    marked(folder)
    (folder / WORK / "index").symlink_to(precious)


def hard_link_within(folder, precious):
    marked(folder)
    os.link(precious / "thesis", folder / WORK / "codes")


def mark_is_a_link(folder, precious):
    with store.open_study(folder) as held:
        identity = held.identity()
    shutil.copytree(precious, folder / WORK)
    (folder / WORK / f"study-{identity}").symlink_to(precious / "thesis")


def study_is_a_link(folder, precious):
    marked(precious)
    (folder / "study.sqlite").symlink_to(precious / "study.sqlite")
    shutil.copytree(precious / WORK, folder / WORK)


def study_is_a_hard_link(folder, precious):
    marked(precious)
    os.link(precious / "study.sqlite", folder / "study.sqlite")
    shutil.copytree(precious / WORK, folder / WORK)


def lock_is_a_link(folder, precious):
    marked(folder)
    (folder / ".lock").unlink()
    (folder / ".lock").symlink_to(precious / "thesis")


def lock_is_a_pipe(folder, _precious):
    marked(folder)
    (folder / ".lock").unlink()
    os.mkfifo(folder / ".lock")


def study_is_a_pipe(folder, precious):
    os.mkfifo(folder / "study.sqlite")
    shutil.copytree(precious, folder / WORK)


def journal_is_a_pipe(folder, _precious):
    """Which SQLite would wait for without an end."""
    marked(folder)
    os.mkfifo(folder / "study.sqlite-journal")


def journal_is_a_link(folder, precious):
    marked(folder)
    (folder / "study.sqlite-journal").symlink_to(precious / "thesis")


def too_deep(folder, _precious):
    marked(folder)
    inside = os.open(folder / WORK, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("x", dir_fd=inside)
        deeper = os.open("x", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    os.close(inside)


def another_table(folder, precious):
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        db.execute("CREATE TABLE meta (name TEXT, value TEXT, more TEXT)")
        db.execute("INSERT INTO meta VALUES ('identity', '\"0123456789abcdef\"', '')")
        db.commit()
    shutil.copytree(precious, folder / WORK)
    (folder / WORK / "study-0123456789abcdef").touch()


def folder_is_a_link(folder, precious):
    marked(precious)
    folder.rmdir()
    folder.symlink_to(precious)


def marked(folder):
    """A study with a work folder that would be removed."""
    with store.open_study(folder) as held:
        identity = held.identity()
    (folder / WORK).mkdir()
    (folder / WORK / f"study-{identity}").touch()


def not_harmful(reports):
    """A held study that is reached by a link, and one whose file has a second name."""
    outside = reports.parent / "disk" / "big"
    noting(outside, "linked")
    (reports / "link").symlink_to(outside)
    noting(reports / "two", "two-names")
    return outside, reports / "two"


def test_a_running_study_is_known_by_whatever_way(reports):
    """Strict is what removes; what protects is not."""
    linked, two = not_harmful(reports)
    assert cleaning_folders.running_owners(reports) == {}
    with store.open_study(linked), store.open_study(two):
        os.link(two / "study.sqlite", reports.parent / "backup.sqlite")
        held = cleaning_folders.running_owners(reports)
        assert held == {"linked": str(reports / "link"), "two-names": str(two)}


@pytest.mark.parametrize(
    "meta",
    [
        {"identity": '"\\ud800"', "standing": '[{"backend": "opensearch"}]'},
        {"identity": '"../../x"'},
        {"identity": "7"},
        {"identity": '"0123456789abcdef\\n"'},
        {"standing": "[" * 200_000},
        {"standing": '{"backend": "opensearch"}'},
        {"standing": "nonsense"},
    ],
)
def test_a_hostile_study_file_ends_nothing(reports, meta):
    hostile = reports / "hostile"
    with store.open_study(hostile) as held:
        held.identity()
        entry = {"backend": "opensearch", "server": "127.0.0.1:1", "owner": "shop-0123"}
        held.put_meta("standing", [entry])
    with closing(sqlite3.connect(hostile / "study.sqlite")) as db:
        for name, value in meta.items():
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
        db.commit()
    (hostile / WORK).mkdir()
    (hostile / WORK / "mine").write_text("mine")
    done = clean(reports, "--yes")
    assert "removed 1 of 1" in done.stderr
    assert (hostile / WORK / "mine").read_text() == "mine"


def test_a_view_without_an_end_is_not_read(reports):
    hostile = reports / "hostile"
    hostile.mkdir()
    with closing(sqlite3.connect(hostile / "study.sqlite")) as db:
        db.execute(
            "CREATE VIEW meta AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
            "SELECT 'identity' AS name, max(x) AS value FROM n"
        )
    assert cleaning_folders.notes(hostile).identity is None


@pytest.mark.parametrize(
    "put",
    [
        not_a_study,
        no_study,
        another_database,
        unmarked,
        marked_for_another,
        mark_is_a_folder,
        mark_is_a_note,
        work_is_a_link,
        work_is_a_file,
        link_within,
        hard_link_within,
        mark_is_a_link,
        study_is_a_link,
        study_is_a_hard_link,
        lock_is_a_link,
        lock_is_a_pipe,
        study_is_a_pipe,
        journal_is_a_pipe,
        journal_is_a_link,
        too_deep,
        another_table,
        folder_is_a_link,
    ],
)
def test_what_cannot_be_proved_ours_stays_and_is_listed(reports, precious, put):
    hostile = reports / "hostile"
    hostile.mkdir()
    put(hostile, precious)
    before = tree(hostile), tree(precious)
    done = clean(reports, "--yes")
    assert (tree(hostile), tree(precious)) == before
    assert "removed 1 of 1" in done.stderr  # that of the killed study beside it
    left = [line for line in done.stdout.splitlines() if line.startswith(str(hostile))]
    assert len(left) == 1
    assert "  not ours, left: " in left[0]


def test_a_link_to_a_study_of_the_same_reports_is_no_other_study(reports):
    (reports / "latest").symlink_to(reports / "killed")
    (found,) = cleaning_folders.work_folders(reports)
    assert Path(found.path).parent.name == "killed"


@pytest.mark.parametrize("put", [unmarked, work_is_a_link, work_is_a_file, link_within])
def test_a_study_keeps_what_is_not_its_own_under_another_name(tmp_path, precious, put):
    folder = tmp_path / "mine"
    folder.mkdir()
    put(folder, precious)
    before, outside = (folder / WORK).lstat().st_ino, tree(precious)
    with store.open_study(folder) as held:
        identity = held.identity()
    said = []
    with work_folder(folder, identity, said.append) as work:
        assert [path.name for path in work.iterdir()] == [f"study-{identity}"]
    (line,) = said
    assert line.startswith(f"{WORK} was not this study's (it ")
    assert line.endswith(f"it is kept as {folder / WORK}-1")
    assert (folder / f"{WORK}-1").lstat().st_ino == before
    assert tree(precious) == outside
    assert not work.exists()


def test_one_that_was_killed_while_it_was_removed_is_still_known(reports, monkeypatch):
    """The mark goes last, whatever the order of the folder."""
    folder = reports / "killed"
    with store.open_study(folder) as held:
        identity = held.identity()
    for number in range(50):
        (folder / WORK / f"file-{number}").write_text("x")
    removed, real = [], os.unlink

    def unlink(name, **more):
        if len(removed) == 30:
            raise KeyboardInterrupt
        removed.append(name)
        real(name, **more)

    monkeypatch.setattr(os, "unlink", unlink)
    with pytest.raises(KeyboardInterrupt):
        remove_work(folder, identity)
    monkeypatch.undo()
    assert (folder / WORK / f"study-{identity}").exists()
    (found,) = cleaning_folders.work_folders(reports)
    assert cleaning_folders.remove_folder(found).removed


def test_what_is_mounted_in_a_work_folder_is_told_by_the_system(reports, monkeypatch, tmp_path):
    with store.open_study(reports / "killed") as held:
        identity = held.identity()
    where = reports / "killed" / WORK
    (where / "a b").mkdir()
    monkeypatch.setattr(work, "MOUNTS", tmp_path / "mountinfo")
    assert work.problem_of(where, identity) is None
    line = f"36 35 98:0 /mnt1 {where.resolve()}/a\\040b rw,noatime master:1 - ext3 /dev/root rw\n"
    (tmp_path / "mountinfo").write_text("1 2\n" + line)
    assert work.problem_of(where, identity) == "it holds 'a b', which is mounted there"
    (found,) = cleaning_folders.work_folders(reports)
    assert not found.free


@pytest.mark.parametrize("name", ["a\u2028b", "a\x0cb", "a\rb", "a\x85b", "a\udcffb"])
def test_a_mount_is_seen_whatever_its_name(reports, monkeypatch, tmp_path, name):
    """The system escapes white space, and not all that text takes for the end of a line."""
    with store.open_study(reports / "killed") as held:
        identity = held.identity()
    where = reports / "killed" / WORK / name
    where.mkdir()
    line = b"36 35 98:0 / %b rw - ext4 /dev/root rw\n" % os.fsencode(where.resolve())
    (tmp_path / "mountinfo").write_bytes(b"1 2\n" + line)
    monkeypatch.setattr(work, "MOUNTS", tmp_path / "mountinfo")
    assert "which is mounted there" in work.problem_of(where.parent, identity)


def test_names_of_files_that_are_no_text_are_told_as_json(reports):
    (reports / os.fsdecode(b"b\xfe") / WORK / "x").mkdir(parents=True)
    told = json.loads(clean(reports, "--yes", "--json").stdout)["folders"]
    assert sorted(one["removed"] for one in told) == [False, True]


def test_a_study_empties_what_a_killed_run_of_it_left(reports):
    with store.open_study(reports / "killed") as held:
        identity = held.identity()
    with work_folder(reports / "killed", identity, pytest.fail) as work:
        assert [path.name for path in work.iterdir()] == [f"study-{identity}"]
    assert not work.exists()


# ---- a study file that names another's index


def noting(folder, owner):
    with store.open_study(folder) as held:
        entry = {"backend": "opensearch", "server": "127.0.0.1:1", "owner": owner}
        held.put_meta("standing", [entry])


def test_only_a_tag_of_its_own_file_is_known_by_a_stopped_study(reports, tmp_path):
    with store.open_study(reports / "killed") as held:
        mine = owner_tag("goods-0123abcd", held.identity(), reports / "killed")
    noting(reports / "killed", mine)
    noting(reports / "other", mine)
    noting(reports / "third", "shop-0123abcd-0123456789abcdef")
    assert cleaning_folders.stopped_owners(reports) == {mine}
    assert cleaning_folders.own(reports / "other") == []
    # a copy knows nothing of what its original made
    shutil.rmtree(reports / "other")
    shutil.copytree(reports / "killed", tmp_path / "elsewhere" / "killed")
    assert cleaning_folders.stopped_owners(tmp_path / "elsewhere") == set()


def test_a_note_keeps_what_it_names_while_its_study_runs(reports):
    noting(reports / "killed", "anything")
    with store.open_study(reports / "killed"):
        assert cleaning_folders.running_owners(reports) == {"anything": str(reports / "killed")}


def test_what_a_note_says_cannot_break_a_line(reports):
    with store.open_study(reports / "killed") as held:
        entry = {"backend": "opensearch", "server": "h\x1b[2J\nharness: all is well", "owner": "me"}
        held.put_meta("standing", [entry, {"backend": 7, "server": [], "owner": {}}, 7])
    done = clean(reports)
    assert "all is well" not in done.stderr
    assert json.loads(clean(reports, "--json").stdout)["indices"] == []
