"""What is said of a load."""

import numpy as np
import pytest

from harness.load.figures import Figures, document, meets, row_of, shown_flags, verdict
from harness.load.show import show
from harness.settings import Setting
from harness.tuning.sla import Sla
from loadtest.messages import Tick
from loadtest.profile import LoadProfile, LoadResult
from loadtest.recording import Recording

PROFILE = LoadProfile(rate_per_s=100)
SETTING = Setting(None, "opensearch", "attached")


def result(latency_ms, **changes):
    n = len(latency_ms)
    values = {
        "latency_ms": np.array(latency_ms, dtype=np.float64),
        "service_ms": np.array(latency_ms, dtype=np.float64) / 2,
        "query": np.arange(n, dtype=np.int32) % 40,
        "answers": np.zeros((40, 0), np.int32),
        "state": np.ones(40, np.uint8),
        "rate_per_s": 100.0,
        "qps": 400.0,
        "errors": 0,
    }
    return LoadResult(**{**values, **changes})


def figures(seen, **changes):
    row = row_of("", SETTING, seen, PROFILE, result([0.1] * 300))
    return Figures("index shop", "opensearch at http://h:1", row, PROFILE, 4.0, **changes)


def test_meets_and_misses_by_the_bound():
    found = figures(result([5.0] * 380 + [60.0] * 20))
    assert meets(found, Sla(100)) is True
    assert verdict(found, Sla(100)) == (
        "Meets the SLA at 100 requests/s: p99 60 ms (at most 60 ms with 95 % confidence; "
        "limit 100 ms)."
    )
    assert meets(found, Sla(50)) is False
    assert verdict(found, Sla(50)).startswith("Misses the SLA at 100 requests/s: p99 60 ms")
    assert meets(found, None) is None


@pytest.mark.parametrize("changes", [{"saturated": True}, {"rate_per_s": 80.0}])
def test_who_cannot_keep_up_misses(changes):
    found = figures(result([5.0] * 400, **changes))
    assert meets(found, Sla(100)) is False
    assert "saturated" in shown_flags(found, Sla(100))


def test_few_samples_bound_nothing():
    found = figures(result([5.0] * 100))
    assert meets(found, Sla(100)) is False
    assert "100 samples cannot bound a p99" in verdict(found, Sla(100))


def test_what_was_told_until_it_was_cut_short(capsys):
    recording = Recording()
    recording.add(
        Tick(
            *("load", 0, 3.1, 310, 3.0, 1, False),
            np.array([2.0] * 309 + [np.inf]),
            np.array([1.0] * 309 + [np.inf]),
            np.arange(310, dtype=np.int32) % 50,
        )
    )
    found = figures(recording, interrupted=True)
    assert found.row.samples == 310
    assert found.row.rate_per_s == pytest.approx(310 / 3)
    assert shown_flags(found, None) == ("errors",)
    show(found, Sla(100), as_json=False)
    told = capsys.readouterr().out
    assert told.startswith("Interrupted after 4 s; until then:\nMeets the SLA")
    assert document(found, Sla(100))["load"]["interrupted"] is True


def test_nothing_measured(capsys):
    found = figures(Recording(), interrupted=True)
    show(found, Sla(100), as_json=False)
    assert "Nothing was measured." in capsys.readouterr().out
    assert meets(found, Sla(100)) is None


def test_a_page_says_how_locust_rounds(capsys):
    show(figures(Recording(), loop="page"), None, as_json=False)
    show(figures(result([5.0] * 400), loop="page"), None, as_json=False)
    assert "Locust's page rounds" in capsys.readouterr().out


def test_what_was_too_much_to_keep_is_told():
    recording = Recording(kept=400)
    values = np.full(500, 2.0)
    recording.add(Tick("load", 1, 5.0, 500, 5.0, 0, False, values, values, np.zeros(500, np.int32)))
    row = figures(recording, loop="page").row
    assert row.samples == 500
    assert row.remarks == ("latencies are of 400 requests, drawn at random from 500",)
