"""Which folders under the reports are left over, and which are not touched."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness import cleaning_folders
from harness.tuning import store
from harness.tuning.work import WORK

COMMAND = Path(sys.executable).with_name("harness")


@pytest.fixture
def reports(tmp_path):
    """Reports of a study that left its work folder behind."""
    with store.open_study(tmp_path / "reports" / "killed"):
        pass
    work = tmp_path / "reports" / "killed" / WORK
    (work / "index").mkdir(parents=True)
    (work / "index" / "codes").write_bytes(b"x" * 2000)
    return tmp_path / "reports"


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


def test_folders_of_others_and_links_are_not(reports, tmp_path):
    (reports / "other" / WORK).mkdir(parents=True)  # no study beside it
    outside = tmp_path / "outside"
    outside.mkdir()
    with store.open_study(reports / "linked"):
        (reports / "linked" / WORK).symlink_to(outside)
    found = cleaning_folders.work_folders(reports)
    assert [Path(one.path).parent.name for one in found] == ["killed"]


def test_a_damaged_study_tells_nothing(reports):
    (reports / "killed" / "study.sqlite").write_bytes(b"no database")
    assert cleaning_folders.standing(reports / "killed") == []


def test_the_command_lists_then_removes(reports, tmp_path):
    def clean(*arguments):
        done = subprocess.run(
            [str(COMMAND), "clean", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert done.returncode == 0, done.stderr
        return done

    listed = clean()
    assert listed.stdout == f"reports/killed/{WORK}  2.0 kB\n"
    assert "--yes removes what is listed" in listed.stderr
    assert (reports / "killed" / WORK).is_dir()
    assert "removed 1 of 1" in clean("--yes").stderr
    assert not (reports / "killed" / WORK).exists()
    assert clean("--yes").stdout == "nothing of harness is left\n"
