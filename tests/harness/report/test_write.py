import json
import subprocess
import sys

import pandas as pd
import pytest

from harness.report import write_report

PLOTS = ["latency_quality.png", "qps_quality.png", "memory_quality.png", "heatmap.png"]
PAGES = ["report.html", "report.md"]


def test_every_study_gives_every_file(tmp_path, any_study, context):
    folder = tmp_path / "deep" / "study"
    write_report(folder, any_study, context())
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(["summary.json", "trials.csv", *PLOTS, *PAGES])
    for plot in PLOTS:
        content = (folder / plot).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) > 2000
    for page in PAGES:
        text = (folder / page).read_text()
        assert any_study["verdict"] in text
        assert "{{" not in text.split("<script>")[0]


def test_writing_again_gives_the_same_bytes(tmp_path, study, context):
    for name in "ab":
        write_report(tmp_path / name, study("89 trials"), context())
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_summary_is_what_was_given(tmp_path, study, context):
    given = study("two backends")
    write_report(tmp_path, given, context())
    text = (tmp_path / "summary.json").read_text()
    assert json.loads(text) == given
    assert text.startswith('{\n  "schema_version": 1,\n  "study"')


def test_infinite_figures_are_null(tmp_path, study, context):
    write_report(tmp_path, study("not finite"), context(margin=float("nan")))
    read = json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)
    assert read["trials"][0]["latency_ms"] == {"p50": None, "p99": None, "n": 3}


def test_csv_has_a_line_a_trial(tmp_path, trial, summarise, context):
    trials = [
        trial("0a", flags=["noisy", "cold"]),
        trial("0b", num_tables=None, error='a "b", c\nd', status="failed", feasible=False),
    ]
    write_report(tmp_path, summarise(trials), context())
    frame = pd.read_csv(tmp_path / "trials.csv", dtype=str, keep_default_na=False)
    assert list(frame["key"]) == ["0a", "0b"]
    assert list(frame["flags"]) == ["noisy;cold", ""]
    assert list(frame["setting.num_tables"]) == ["20", ""]
    assert list(frame["quality.nDCG@10"]) == ["0.81234", "0.81234"]
    assert list(frame["latency_ms.p99"]) == ["3.2144", "3.2144"]
    assert list(frame["feasible"]) == ["true", "false"]
    assert list(frame["error"]) == ["", 'a "b", c\nd']


def test_no_half_written_file_is_left(tmp_path, study, context, monkeypatch):
    from harness.report import html

    write_report(tmp_path, study("one trial"), context())
    before = (tmp_path / "report.html").read_bytes()

    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr(html, "render", fail)
    with pytest.raises(RuntimeError):
        write_report(tmp_path, study("89 trials"), context())
    assert (tmp_path / "report.html").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_importing_the_package_imports_nothing_heavy():
    heavy = ("pandas", "matplotlib", "plotly", "jinja2")
    script = f"import sys, harness.report; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_writing_imports_no_pyplot_and_no_plotly_figures():
    script = (
        "import sys; from harness.report import html, markdown, plots, tables, write;"
        "from plotly.offline import get_plotlyjs;"
        "print([m for m in ('matplotlib.pyplot', 'plotly.graph_objs._figure') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
