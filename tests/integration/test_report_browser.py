"""The report in a real browser without network: it draws, and nothing leaves the page."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
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
    # no name resolves: even a page that asked for something would get nothing
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=10000",
    "--window-size=1280,2400",
)

EVIL = "<script>document.title='broken'</script>"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium)"),
]


def trial(key, tables, latency, **changes):
    return {
        "key": key,
        "setting": {
            "family": "simhash",
            "backend": "tables",
            "kind": "lsh",
            "num_tables": tables,
            "hash_length": 12,
            "bits": 128,
        },
        "baseline": False,
        "status": "ok",
        "error": None,
        "feasible": True,
        "quality": {"nDCG@10": 0.5 + tables / 100},
        "measure_n": {"nDCG@10": 50},
        "latency_ms": {"p50": latency / 2, "p99": latency, "n": 1000},
        "upper_ms": {"p99": latency * 1.1},
        "qps": 1000 / latency,
        "index_bytes": tables * 1_000_000,
        "flags": [],
    } | changes


@pytest.fixture
def report(tmp_path):
    from harness.report import ReportContext, write_report

    trials = [trial("0a", 10, 2.0), trial("0b", 20, 4.0), trial("0c", 40, 300.0, feasible=False)]
    trials.append(
        trial("0d", 50, 1.0, status="failed", feasible=False, error="</script><script>alert(1)")
    )
    summary = {
        "schema_version": 1,
        "study": "shop-1a2b3c4d",
        "path": "reports/shop-1a2b3c4d",
        "corpus": {
            "name": EVIL,
            "documents": 100,
            "queries": 50,
            "skipped": {},
        },
        "sla": {"limit_ms": 100, "stat": "p99", "rate_per_s": 1000.0},
        "objective": "nDCG@10",
        "verdict": "<img src=x onerror=document.title='broken'>",
        "pick": trials[1],
        "runner_up": trials[0],
        "nearest_miss": None,
        "front": ["0a", "0b"],
        "counts": {"trials": 4, "failed": 1, "impossible": 0},
        "reference": [],
        "trials": trials,
    }
    context = ReportContext("2026-01-02T03:04:05+00:00", "0.1.0", "harness tune --sla-ms 100")
    write_report(tmp_path / "study", summary, context)
    return tmp_path / "study" / "report.html"


def browse(page, tmp_path, *extra):
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *extra, page.as_uri()]
    environment = {**os.environ, "HOME": str(tmp_path)}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True, env=environment
    ).stdout


WATCH = """
const refused = [];
addEventListener("securitypolicyviolation", (event) => refused.push(event.blockedURI));
addEventListener("load", () => setTimeout(() => {
  const asked = performance.getEntriesByType("resource").map((entry) => entry.name);
  document.documentElement.dataset.result = JSON.stringify([asked, refused, document.title]);
}, 1000));
"""


def with_script(report, place, script):
    changed = report.with_name("driven.html")
    changed.write_text(report.read_text().replace(place, f"<script>{script}</script>{place}", 1))
    return changed


def result_of(document):
    return json.loads(html.unescape(re.search(r'data-result="([^"]*)"', document)[1]))


def test_it_draws_and_asks_for_nothing(report, tmp_path):
    document = browse(with_script(report, "<style>", WATCH), tmp_path, "--dump-dom")
    drawn = re.findall(r'<div class="chart[^"]*js-plotly-plot[^"]*" id="([^"]*)"', document)
    assert sorted(drawn) == ["chart-latency_quality", "chart-memory_quality", "chart-qps_quality"]
    assert document.count('class="scatterlayer') == 3
    assert "4 of 4 shown" in document
    # no button sends anything anywhere
    buttons = set(re.findall(r'class="modebar-btn[^"]*"[^>]*data-title="([^"]*)"', document))
    assert len(buttons) == 6
    assert not [title for title in buttons if re.search("cloud|link|share|plotly", title, re.I)]
    asked, refused, title = result_of(document)
    assert asked == []
    assert refused == []
    # nothing that came with the data has run
    assert title == f"{EVIL} · nDCG@10 under p99 ≤ 100 ms"


def test_sorting_and_filtering(report, tmp_path):
    driver = """
    document.querySelectorAll("#table thead th button").forEach((button) => {
      if (button.textContent === "p99 ms") { button.click(); }
    });
    const order = Array.from(document.querySelectorAll("#table tbody tr"), (row) => row.id);
    document.getElementById("feasible").click();
    document.documentElement.dataset.result = JSON.stringify(
      [order, document.getElementById("shown").textContent]);
    """
    order, shown = result_of(browse(with_script(report, "</body>", driver), tmp_path, "--dump-dom"))
    assert order == ["t-0c", "t-0b", "t-0a", "t-0d"]
    assert shown == "2 of 4 shown"


@pytest.mark.parametrize("size", ["1280,2400", "390,3000"])
def test_screenshot(report, tmp_path, size):
    image = tmp_path / "page.png"
    browse(report, tmp_path, f"--screenshot={image}", f"--window-size={size}")
    assert image.stat().st_size > 20_000
