import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from harness.report import html, markdown, model, tables, words
from harness.settings import Setting
from harness.tuning import attached_run, outcome, sla
from harness.tuning.trial import Trial
from loadtest.profile import UNANSWERED, WITHOUT_LOAD, LoadProfile, LoadResult
from loadtest.writing import Written

EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Collects scripts, texts, ids and anything that could fetch."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.texts, self.fetches, self.ids = [], [], [], []
        self.tag, self.attributes = "", {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tag, self.attributes = tag, dict(attrs)
        self.ids += [value for name, value in attrs if name == "id"]
        self.fetches += [
            (tag, name, value)
            for name, value in attrs
            if name in ("src", "href", "srcset", "action", "data", "poster")
            and not (value or "").startswith("#")
        ]
        if tag == "script":
            self.scripts.append((self.attributes.get("type"), ""))

    def handle_endtag(self, _):
        self.tag = ""

    def handle_data(self, data):
        if self.tag == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = kind, text + data
        elif self.tag != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    @property
    def figures(self):
        return json.loads(self.scripts[0][1], parse_constant=pytest.fail)


@pytest.fixture
def page(context):
    def make(summary, present=frozenset(), **changes):
        report = model.build(summary, context(**changes))
        return Page(html.render(report, frozenset(present)))

    return make


@pytest.fixture
def document(context):
    def make(summary, present=frozenset(), **changes):
        return markdown.render(model.build(summary, context(**changes)), frozenset(present))

    return make


def test_page_is_whole_and_fetches_nothing(page, any_study):
    found = page(any_study)
    assert found.fetches == []
    assert [kind for kind, _ in found.scripts] == ["application/json", None, None]
    assert len(found.ids) == len(set(found.ids))
    assert set(found.figures) == {"latency_quality", "qps_quality", "memory_quality"}


def test_policy_forbids_every_connection(context, study):
    text = html.render(model.build(study("one trial"), context()), frozenset())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy
    assert "http" not in policy


def test_the_pick_is_told_first(page, study):
    found = page(study("one trial"))
    order = ["meets the SLA.", "The pick", "Compared with", "Quality against cost", "All 1 trials"]
    places = [found.text.index(part) for part in order]
    assert places == sorted(places)
    card = found.text[places[1] : places[2]]
    for part in (
        "simhash 20 × 12 · lsh on tables",
        "128-bit code",
        "0.8123",
        "mean of 1,000 queries",
        "3.21 ms",
        "at most 4.50 ms with 95 % confidence; limit 100 ms",
        "5,210 QPS",
        "12.3 MB",
        "Client and index shared the cores.",
    ):
        assert part in card


def test_runner_up_and_margin(page, trial, summarise):
    trials = [trial("0a"), trial("0b", num_tables=30)]
    found = page(summarise(trials))
    text = "The runner-up, simhash 30 × 12 · lsh on tables, is 0.0021 below the pick in nDCG@10."
    assert text in found.text
    cheaper = page(summarise(trials), margin=-0.001).text
    assert "is 0.0010 above the pick in nDCG@10; the pick is cheaper" in cheaper


def test_nothing_feasible_tells_the_nearest_miss(page, study):
    found = page(study("nothing feasible"))
    assert "p99 ≤ 0.001 ms: not met" in found.text
    assert "Nearest miss" in found.text
    assert "The pick" not in found.text.replace("★: the pick", "")


def test_failed_rows_tell_their_reason(page, document, study):
    for text in (page(study("failed trials")).text, document(study("failed trials"))):
        assert "tables: disk full" in text


def test_flags_that_occur_are_explained(page, trial, summarise):
    found = page(summarise([trial("0a", flags=["noisy"]), trial("0b")]))
    assert "1 of 2 trials" in found.text
    assert words.FLAGS["noisy"] in found.text
    assert words.FLAGS["cold"] not in found.text


def test_how_it_was_measured_and_what_was_left_out(page, document, study):
    summary = study("one trial")
    for text in (page(summary).text, document(summary)):
        for part in (
            "the cluster is yellow",
            "1,000 requests/s",
            "in process, p99",
            "0.210 ms",
            "judgments: 12,345 pairs",
            "2 combinations do not exist",
            "2 × multihash on faiss: too many bits",
            "3 × empty",
            "one-sided at 95 %",
        ):
            assert part in text


def test_commands_recompute_what_the_files_allow(page, study):
    present = {"truth/judgments.qrels", "truth/neighbours.qrels.gz", "runs"}
    text = page(study("one trial"), present).text
    assert "ir_measures truth/judgments.qrels runs/0a.run.gz 'nDCG@10' 'R@10'" in text
    assert "ir_measures truth/neighbours.qrels.gz runs/0a.run.gz 'P@10'" in text
    assert "ir_measures" not in page(study("one trial")).text


@pytest.mark.parametrize(
    ("name", "since", "measure"),
    [
        ("nDCG@10", 2.0, "nDCG@10"),
        ("P@5", None, "P@5"),
        ("P@5", 1.0, "P@5"),
        ("P@5", 2.0, "P(rel=2)@5"),
        ("R@5", 1.5, None),
        ("ANNRecall@10", 2.0, "P@10"),
        ("ANNRecall(truth=code)@10", 1.0, None),
        ("AP(norm=min)@10", 1.0, None),
        ("F1@10", 1.0, None),
        ("nDCG(discount=jk2)%20", 1.0, None),
    ],
)
def test_recipes(name, since, measure):
    found = words.recipe(name, since)
    assert (found and found.measure) == measure


def test_every_flag_that_a_trial_can_carry_is_explained():
    state = np.array([WITHOUT_LOAD, UNANSWERED], dtype=np.uint8)
    nothing = np.zeros(1)
    answers = np.zeros((2, 1), dtype=np.int32)
    seen = LoadResult(
        *(nothing, nothing, np.zeros(1, dtype=np.int32), answers, state, 1.0, None, 1),
        saturated=True,
        unsettled=True,
        repeats=1,
    )
    slow = Written(0, 0.0, 1.0, 1)
    met = outcome.Circumstances(LoadProfile(rate_per_s=1.0), seen, True, None, written=slow)
    trial = Trial(
        *("k", Setting("simhash", "tables", "lsh"), False, "ok"),
        latency_ms={"p99": 1.0},
        upper_ms={"p99": 3.0},
        samples=1,
        flags=outcome._flags(seen, met),
        null_ms={"latency": {"p99": None}},
    )
    of_attached_rows = {attached_run.UNKNOWN}
    assert set(sla.flags(trial, sla.Sla(10.0))) | of_attached_rows == set(words.FLAGS)


def evil(trial, summarise):
    bad = trial("0b", EVIL, "</script><b>", status="failed", error=EVIL, feasible=False)
    corpus = {"name": EVIL, "documents": 1, "queries": 1, "skipped": {EVIL: 1}}
    good = trial("0a", EVIL, EVIL)
    good["quality"][EVIL] = 0.5
    return summarise(
        [good, bad],
        corpus=corpus,
        study=EVIL,
        verdict=EVIL,
        reference=[{"name": EVIL, "quality": {"nDCG@10": 0.9}}],
    )


def test_everything_from_data_is_escaped(page, trial, summarise):
    found = page(
        evil(trial, summarise),
        command=EVIL,
        notes=(EVIL,),
        truth=(EVIL,),
        load={EVIL: EVIL},
        environment={EVIL: EVIL},
        impossible=(EVIL,),
        null_ms={EVIL: {EVIL: 1.0}},
        latency_note=EVIL,
        version=EVIL,
        generated=EVIL,
    )
    assert len(found.scripts) == 3
    assert all("alert(1)" not in script for kind, script in found.scripts if kind is None)
    assert "<" not in found.scripts[0][1]
    assert found.text.count(EVIL) > 10
    # what plotly reads as HTML is escaped once more
    assert "<script" not in json.dumps(found.figures)
    assert "&lt;script&gt;" in json.dumps(found.figures)


def test_markdown_escapes(document, trial, summarise):
    summary = summarise(
        [
            trial("0a", "a|b", "x`y"),
            trial("0b", status="failed", error="x | y\n# z", feasible=False),
        ]
    )
    text = document(summary, notes=("<b> *bold* [x](y) snake_case _it_",))
    assert "a\\|b 20 × 12" in text
    assert "failed: x \\| y # z" in text
    assert "&lt;b&gt; \\*bold\\* \\[x\\](y) snake_case \\_it\\_" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows
    widths = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
    for previous, width, row in zip(widths, widths[1:], rows[1:], strict=False):
        assert width == previous or not set(row) <= set("|-: "), row


def test_markdown_tables_are_well_formed(document, any_study):
    block = []
    for line in [*document(any_study).splitlines(), ""]:
        if line.startswith("|"):
            block.append(len(re.findall(r"(?<!\\)\|", line)))
            continue
        if block:
            assert len(block) >= 2
            assert len(set(block)) == 1
        block = []


def test_markdown_shows_the_best_ten_then_all(document, study):
    text = document(study("89 trials"))
    best, everything = text.split("## The pick and the best by nDCG@10")[1].split(
        "## Appendix: all 89 trials"
    )
    assert len(re.findall(r"^\| ", best.split("##")[0], re.M)) == 11
    assert len(re.findall(r"^\| ", everything, re.M)) == 90
    for plot in ("latency_quality", "qps_quality", "memory_quality", "heatmap"):
        assert f"]({plot}.png)" in text


def test_the_largest_fields_are_told_and_all_of_them_stand_in_the_table(
    page, document, trial, summarise
):
    sizes = {"id": 3_000_000, "h8": 5_200_000, "c": 4_000_000, "h16": 6_000}
    one = trial("a" * 16, backend="elasticsearch") | {"field_bytes": sizes}
    summary = summarise([one, trial("b" * 16)], pick=one)
    told = "of 4 in the index that served it, then c 4.00 MB, id 3.00 MB"
    assert told in page(summary).text
    assert told in document(summary)
    header, first, _ = tables.trials_csv(summary["trials"]).splitlines()
    row = dict(zip(header.split(","), first.split(","), strict=False))
    assert {name: row[f"field_bytes.{name}"] for name in sizes} == {
        "id": "3000000",
        "h8": "5200000",
        "c": "4000000",
        "h16": "6000",
    }
    assert "Largest field" not in page(summarise([trial("b" * 16)])).text
