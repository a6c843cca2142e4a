"""The load process as a process: it dies, hangs, lies, and never outlives its parent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexers.errors import LoadError
from loadtest import schedule
from loadtest.profile import UNDER_LOAD, LoadProfile
from loadtest.runner import LoadRunner

QUICK = LoadProfile(rate_per_s=500, samples=20, burst_s=0, warmup_min=0)
ENDLESS = "    runner.calibrate({remote}, LoadProfile(1, 1000), k=3, queries=5)\n"


def gone(pid: int) -> bool:
    """Whether the process has ended; one that nobody waited for has, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def children(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(holds) -> bool:
    end = time.monotonic() + 20
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def test_death_is_told_and_survived(command, target) -> None:
    with LoadRunner(command) as runner:
        with pytest.raises(LoadError) as told:
            runner.run(target(die_at=5), QUICK)
        assert str(told.value) == (
            "the load process ended with exit status 3; its last words: a library gave up"
        )
        assert set(runner.run(target(), QUICK).state) == {UNDER_LOAD}


def test_hanging_is_told(command, target, monkeypatch) -> None:
    monkeypatch.setattr(schedule, "longest_s", lambda *_: 1.0)
    with LoadRunner(command, grace_s=0.0) as runner:
        pid = runner._child._process.pid
        with pytest.raises(LoadError, match="did not answer within 1 s"):
            runner.run(target(each_s=30.0), QUICK)
        assert gone(pid)


@pytest.mark.parametrize(
    "said", ["b'hello, hello'", "(5).to_bytes(8, 'big') + b'hello'"], ids=["length", "pickle"]
)
def test_nonsense_is_told(said: str, target) -> None:
    code = f"import os, sys; os.write(int(sys.argv[1]), {said}); sys.stdin.read()"
    with (
        LoadRunner((sys.executable, "-c", code)) as runner,
        pytest.raises(LoadError, match="spoke nonsense"),
    ):
        runner.run(target(), QUICK)


def test_another_kind_of_answer_is_told(target) -> None:
    code = (
        "import os, pickle, sys; said = pickle.dumps(7);"
        "os.write(int(sys.argv[1]), len(said).to_bytes(8, 'big') + said); sys.stdin.read()"
    )
    with (
        LoadRunner((sys.executable, "-c", code)) as runner,
        pytest.raises(LoadError, match="answered with a int"),
    ):
        runner.run(target(), QUICK)


def test_a_process_that_cannot_start_says_why(target) -> None:
    with (
        LoadRunner((sys.executable, "-c", "import no_such_module")) as runner,
        pytest.raises(LoadError, match="exit status 1; its last words: ModuleNotFoundError"),
    ):
        runner.run(target(), QUICK)


def test_nothing_is_left_running(command) -> None:
    with LoadRunner(command) as runner:
        pid = runner._child._process.pid
    assert gone(pid)


@pytest.mark.parametrize("remote", [False, True])
def test_killing_the_parent_leaves_nothing_running(parent, remote: bool) -> None:
    with subprocess.Popen(parent(ENDLESS.format(remote=remote)), stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert wait_until(lambda: len(children(process.pid)) == 1 + remote)
        pids = children(process.pid)
        time.sleep(1.5)  # for it to be in the middle of its schedule
        process.kill()
    assert wait_until(lambda: all(map(gone, pids)))


def test_ctrl_c_ends_the_load(parent) -> None:
    command = parent(ENDLESS.format(remote=False))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        pid = int(process.stdout.readline())
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=10)[1]
    assert said.strip().endswith(b"KeyboardInterrupt")
    assert gone(pid)
