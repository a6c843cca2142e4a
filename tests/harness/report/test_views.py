import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.report import model, style
from harness.report.story import choice
from harness.report.tables import columns
from harness.report.views import heatmaps, log_axis, scatters


def test_a_far_limit_does_not_squeeze_the_points():
    assert log_axis([1.0, 2.0], 50).outside == 0
    assert log_axis([1.0, 2.0], 50).high > 50
    assert log_axis([1.0, 2.0], 100).outside == 1
    assert log_axis([1.0, 2.0], 100).high < 3
    assert log_axis([1.0, 2.0], 0.001).outside == -1
    assert log_axis([], 100).low < 100 < log_axis([], 100).high


@given(st.lists(st.floats(1e-4, 1e6), max_size=20))
@settings(max_examples=100)
def test_axis_holds_its_values_and_a_few_ticks(values):
    axis = log_axis(values)
    assert all(axis.low < value < axis.high for value in values)
    assert len(axis.ticks) <= 16
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    assert list(axis.ticks) == sorted(set(axis.ticks))


def test_points_without_a_figure_are_counted(context, trial, summarise):
    rows = [trial("0a"), trial("0b", qps=None), trial("0c", latency_ms={"p99": None})]
    latency, qps, memory = scatters(model.build(summarise(rows), context()))
    assert [view.undrawn for view in (latency, qps, memory)] == [1, 1, 0]
    assert {point.x for point in memory.points} == {12.345678}


def test_front_runs_by_latency(context, trial, summarise):
    slow = trial("0a", latency_ms={"p99": 9.0}, quality={"nDCG@10": 0.9})
    fast = trial("0b", latency_ms={"p99": 1.0}, quality={"nDCG@10": 0.5})
    view = scatters(model.build(summarise([slow, fast]), context()))[0]
    assert [(p.x, p.y) for p in view.front] == [(1.0, 0.5), (9.0, 0.9)]
    assert scatters(model.build(summarise([slow, fast]), context()))[1].front == ()


def test_one_panel_per_family_and_backend(context, study):
    panels = heatmaps(model.build(study("two backends"), context()))
    assert [(panel.family, panel.backend) for panel in panels] == [
        ("minhash", "opensearch"),
        ("minhash", "tables"),
        ("simhash", "opensearch"),
        ("simhash", "tables"),
    ]
    assert panels[0].hash_lengths == (1, 2, 3, 4, 6, 8)
    assert panels[0].num_tables == (5, 10, 15, 20, 25, 30, 40, 50)
    assert len(panels[0].cells) == 48


def test_rows_come_best_first_with_their_roles(context, trial, summarise):
    low = trial("0a", quality={"nDCG@10": 0.2})
    high = trial("0b", quality={"nDCG@10": 0.9}, feasible=False)
    bad = trial("0c", status="failed", feasible=False)
    report = model.build(summarise([bad, high, low], pick=low), context())
    assert [row.key for row in report.rows] == ["0a", "0b", "0c"]
    assert [row.role for row in report.rows] == ["pick", "", ""]
    assert [report.obstacle(row) for row in report.rows] == [
        "",
        "another constraint is not met",
        "failed",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"upper_ms": {"p99": 120.0}}, "p99 may be 120 ms, above 100 ms"),
        ({"upper_ms": {"p99": None}}, "p99 has no finite upper bound"),
        ({"flags": ["saturated"]}, "saturated: the backlog grew past its limit"),
    ],
)
def test_obstacles(context, trial, summarise, changes, words):
    report = model.build(summarise([trial("0a", feasible=False, **changes)]), context())
    assert report.obstacle(report.rows[0]) == words


def test_known_families_keep_their_colours():
    assert style.colours(["simhash", "zz"])["simhash"] == style.colours(["simhash"])["simhash"]
    many = style.colours([*"abcdef", "simhash", "minhash", "BM25"])
    assert len(set(many.values())) == 9


def test_heat_scale():
    assert style.heat_share(0.5, (0.0, 1.0)) == 0.5
    assert style.heat_share(0.5, (0.5, 0.5)) == 0.5
    assert style.heat_colour(0.0) == "#EFF6FB"
    assert style.heat_colour(1.0) == "#0B3C6F"


def test_a_graph_is_told_by_its_sizes(context, trial, summarise):
    graph = trial("0a", backend="hnswlib", kind="hnsw", num_tables=None, hash_length=None)
    graph["setting"] |= {"m": 16, "ef_construction": 200, "ef_search": 64}
    plain = trial("0b")
    report = model.build(summarise([graph, plain]), context())
    row = report.find("pick")
    assert row.label == "simhash m 16, ef_construction 200, ef_search 64 · hnsw on hnswlib"
    told = [(c.title, c.text(c.value(row))) for c in columns(report) if c.title in row.details]
    assert told == [("m", "16"), ("ef_construction", "200"), ("ef_search", "64")]
    facts = {remark: value for _, value, remark in choice(report).facts}
    assert (facts["m"], facts["ef_construction"], facts["ef_search"]) == ("16", "200", "64")
    assert "num_tables" not in facts
    without = {c.title for c in columns(model.build(summarise([plain]), context()))}
    assert not without & {"m", "ef_construction", "ef_search"}
