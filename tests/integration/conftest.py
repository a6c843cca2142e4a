"""Runs `harness tune` as a person would: the installed command, in its own process."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("harness")
QUICK = "burst_s: 0.1\nsamples: 300\nsla_ms: 100\n"


class Study:
    """One study folder with the arguments that belong to it."""

    def __init__(self, folder, arguments, config):
        self.folder = folder
        self.command = [str(COMMAND), "tune", "--config", str(config), "--out", str(folder)]
        self.command += [str(a) for a in arguments]

    def run(self, *more, expect=0):
        """Run to the end; gives (stdout, stderr)."""
        done = subprocess.run(
            [*self.command, *map(str, more)], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == expect, done.stderr[-2000:]
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    def summary(self, *more, expect=0):
        """Run to the end; gives what --json prints."""
        return json.loads(self.run("--json", *more, expect=expect)[0])

    def start(self):
        """Start it and let it run."""
        return subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def rows(self, status="ok"):
        """key -> (row, raw latencies) of the stored trials."""
        path = self.folder / "study.sqlite"
        if not path.exists():
            return {}
        with contextlib.closing(sqlite3.connect(path)) as db:
            try:
                found = db.execute(
                    "SELECT key, row, latency_ms FROM trials WHERE status = ?", (status,)
                ).fetchall()
            except sqlite3.OperationalError:
                return {}
        return {key: (row, raw) for key, row, raw in found}

    def wait_for_rows(self, process, count, limit_s=120):
        """Wait until the running study has stored this many trials."""
        end = time.monotonic() + limit_s
        while len(self.rows()) < count:
            assert process.poll() is None, process.stderr.read()[-2000:]
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.fixture
def study(tmp_path):
    """Makes studies: `study(*arguments, out="name", config="more yaml")`."""
    made = []

    def make(*arguments, out="study", config=""):
        path = tmp_path / f"{out}.yaml"
        path.write_text(QUICK + config)
        made.append(Study(tmp_path / out, arguments, path))
        return made[-1]

    return make


@pytest.fixture
def end():
    """Signals a process and waits for its end; gives exit code and stderr."""

    def signal_and_wait(process, number):
        os.kill(process.pid, number)
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    return signal_and_wait


def pytest_configure():
    # a test that is interrupted must not leave its children without a parent
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
