"""Locust's own page in a real browser: a person opens it, starts a run, sees it count, stops it."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
COMMAND = Path(sys.executable).with_name("harness")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    # no other name resolves: a page that asked for something elsewhere would get nothing
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--window-size=1280,1600",
    "--remote-debugging-pipe",
)
# the browser reads orders from descriptor 3 and answers on 4
ON_PIPES = """
import os, sys
told, tells = os.dup(int(sys.argv[1])), os.dup(int(sys.argv[2]))
os.dup2(told, 3)
os.dup2(tells, 4)
os.set_inheritable(3, True)  # they may have been 3 and 4 already
os.set_inheritable(4, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
LIMIT_S = 40.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium)"),
]


class Browser:
    """A Chromium that is told what to do over a pipe, by its own protocol."""

    def __init__(self, folder):
        told, self._orders = os.pipe()
        self._answers, tells = os.pipe()
        launcher = [sys.executable, "-c", ON_PIPES, str(told), str(tells), CHROMIUM, *FLAGS]
        self.process = subprocess.Popen(
            [*launcher, f"--user-data-dir={folder / 'profile'}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(told, tells),
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(told)
        os.close(tells)
        self._number, self._rest, self._session = 0, b"", None

    def __call__(self, method, **params):
        """Give an order and wait for what comes of it."""
        self._number += 1
        order = {"id": self._number, "method": method, "params": params}
        if self._session:
            order["sessionId"] = self._session
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self):
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 16)
            assert part, "the browser has ended"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, url):
        target = self("Target.createTarget", url=url)["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def value(self, script):
        """What a script on the page gives."""
        done = self("Runtime.evaluate", expression=script, returnByValue=True)
        return done["result"].get("value")

    def wait(self, script):
        """Wait until a script on the page gives something true."""
        end = time.monotonic() + LIMIT_S
        while not (found := self.value(script)):
            assert time.monotonic() < end, self.value("document.body.innerText")
            time.sleep(0.2)
        return found

    def click(self, text):
        """Press the button that says this."""
        button = (
            f"[...document.querySelectorAll('button')].find(b => /^{text}$/i.test(b.innerText))"
        )
        self.wait(f"!!({button})")
        self.value(f"({button}).click()")

    def picture(self, path):
        path.write_bytes(base64.b64decode(self("Page.captureScreenshot")["data"]))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._orders)
        os.close(self._answers)


@pytest.fixture
def browser(tmp_path):
    made = Browser(tmp_path)
    yield made
    made.close()


@pytest.fixture
def page(tmp_path):
    """`harness load --web` on the pick of a small study; gives the process and its page's URL."""
    study = tmp_path / "study"
    arguments = (
        *("--family", "simhash", "--num-tables", "2", "--hash-length", "4", "--rate", "300"),
        *("--corpus", "catalogue:100", "--backend", "tables"),
    )
    subprocess.run(
        [COMMAND, "tune", "--sla-ms", "1000", "--out", study, "--samples", "300", *arguments],
        check=True,
        capture_output=True,
        timeout=120,
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [COMMAND, "load", "--study", study, "--web", "--web-port", str(port), "--rate", "200"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            yield process, found[0]
            break
    else:
        pytest.fail("no page was served")
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.communicate()


REQUESTS = """
(() => {
  const cells = [...document.querySelectorAll("tr")].map(
    row => [...row.querySelectorAll("td")].map(cell => cell.innerText.trim()));
  const row = cells.find(row => row.includes("search"));
  return row ? Number(row[2]) : 0;
})()
"""


def test_a_person_starts_and_stops_a_run(page, browser, tmp_path):
    process, url = page
    browser.open(url)
    browser.wait("document.querySelectorAll('input').length >= 2")
    proposed = browser.value("[...document.querySelectorAll('input')].map(i => i.value)")
    assert proposed[0] == "4"  # as many users as a study's burst
    browser.click("start")
    assert browser.wait(f"{REQUESTS} > 300 && {REQUESTS}") > 300
    picture = Path(os.environ.get("HARNESS_PICTURE", tmp_path / "page.png"))
    browser.picture(picture)
    assert picture.stat().st_size > 20_000
    browser.click("stop")
    browser.wait("/stopped/i.test(document.body.innerText)")
    time.sleep(2.5)  # its figures are a little old
    counted = browser.value(REQUESTS)
    asked = browser.value("performance.getEntriesByType('resource').map(e => e.name)")
    assert [name for name in asked if not name.startswith((url, "data:", "blob:"))] == []
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert output.startswith("Meets the SLA at ")
    assert int(re.search(r"^([\d,]+) requests in", output, re.M)[1].replace(",", "")) == counted
    assert "Locust's page rounds response times" in output
    assert "quality in the study: " in output
    assert not (tmp_path / "study" / ".harness-work").exists()
