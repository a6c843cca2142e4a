"""What both pages tell, as texts ready to print: the choice, comparisons, files."""

from __future__ import annotations

from dataclasses import dataclass

from harness.report import numbers, words
from harness.report.model import Report, Row, Trial

SHOWN_FIELDS = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """The pick, or the nearest miss where nothing is feasible, as a card.

    Attributes:
        heading: `The pick` or `Nearest miss`.
        facts: (name, value, remark) in reading order; the remark may be empty.
    """

    heading: str
    row: Row
    facts: tuple[tuple[str, str, str], ...]


_DETAILS = {
    "m": "Links of a node",
    "ef_construction": "Candidates in building",
    "index": "Index",
    "body": "Search body",
    "ef_search": "Candidates in searching",
    "vector_type": "Vectors held as",
    "knn_engine": "Library of the graph",
    "window_size": "Candidates re-ranked",
    "shards": "Shards",
    "replicas": "Replicas",
    "codec": "Codec",
    "refresh_interval": "Refresh",
    "translog": "Translog",
    "segments": "Segments a shard",
    "filter": "Filter",
    "fetch": "Answers bring along",
}


def choice(report: Report) -> Choice | None:
    """The card; None where no trial was measured."""
    row = report.find("pick")
    heading = "The pick" if row else "Nearest miss"
    row = row or report.find("nearest miss")
    if row is None:
        return None
    if row.baseline:
        heading += " (a baseline)"
    return Choice(heading, row, tuple(_facts(report, row)))


def _facts(report: Report, row: Row) -> list[tuple[str, str, str]]:
    trial, setting = row.trial, row.trial["setting"]
    bits = setting.get("bits")
    n = (trial.get("measure_n") or {}).get(report.objective)
    upper = numbers.milliseconds(row.upper_ms)
    facts = [
        ("Family", row.family, f"{numbers.count(bits)}-bit code" if bits else ""),
        ("Tables", numbers.count(row.num_tables), "num_tables"),
        ("Hash length", numbers.count(row.hash_length), "hash_length"),
        *((_DETAILS[name], _detail(value), name) for name, value in row.details.items()),
        ("Backend", row.backend, row.kind),
        (
            report.objective,
            numbers.quality(row.objective),
            f"mean of {numbers.count(n)} queries" if n is not None else "",
        ),
        (
            f"{report.stat} latency",
            numbers.milliseconds(row.latency_ms),
            f"at most {upper} with 95 % confidence; limit {report.limit} ms",
        ),
        ("Capacity", f"{numbers.significant(row.qps)} QPS", "closed loop"),
        (
            "Index size",
            numbers.size(row.index_bytes),
            f"built in {numbers.seconds(trial.get('build_s'))}",
        ),
        *_fields(trial),
        ("Encoding a query", numbers.milliseconds(trial.get("encode_ms")), "not in the latency"),
    ]
    absent = {"Tables": row.num_tables, "Hash length": row.hash_length}
    return [fact for fact in facts if absent.get(fact[0], 0) is not None]


def _fields(trial: Trial) -> list[tuple[str, str, str]]:
    """The largest fields of the index, where the engine tells what each takes."""
    held = sorted((trial.get("field_bytes") or {}).items(), key=lambda one: (-one[1], one[0]))
    if not held:
        return []
    told = [f"{name} {numbers.size(size)}" for name, size in held[:SHOWN_FIELDS]]
    then = f", then {', '.join(told[1:])}" if told[1:] else ""
    return [("Largest field", told[0], f"of {len(held)} in the index that served it{then}")]


def _detail(value: int | str) -> str:
    return value if isinstance(value, str) else numbers.count(value)


def badge(report: Report) -> tuple[str, str]:
    """(class, text) of the verdict's badge, which says no more than whether the SLA is met."""
    if report.find("pick") is not None:
        return "met", f"{report.stat} ≤ {report.limit} ms: met"
    return "missed", f"{report.stat} ≤ {report.limit} ms: not met"


def comparison(report: Report) -> list[Row]:
    """The pick or nearest miss, the runner-up and every measured baseline, best first."""
    first = [report.find(role) for role in ("pick", "nearest miss", "runner-up")]
    chosen = [row for row in first if row is not None]
    seen = {row.key for row in chosen}
    return chosen + [row for row in report.finished if row.baseline and row.key not in seen]


def margin(report: Report) -> str:
    """How far the runner-up is behind, in a sentence; empty where there is none."""
    runner, value = report.find("runner-up"), numbers.finite(report.context.margin)
    if runner is None or value is None:
        return ""
    if value == 0:
        return f"The runner-up, {runner.label}, has the same {report.objective}."
    side = "below" if value > 0 else "above"
    return (
        f"The runner-up, {runner.label}, is {abs(value):.4f} {side} the pick in {report.objective}"
        + ("." if value > 0 else "; the pick is cheaper within the tolerance.")
    )


def flag_counts(report: Report) -> list[tuple[str, int, str]]:
    """(flag, number of trials, meaning) of every flag that occurs, most frequent first."""
    counts: dict[str, int] = {}
    for row in report.rows:
        for flag in row.flags:
            counts[flag] = counts.get(flag, 0) + 1
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(flag, number, words.FLAGS.get(flag, "")) for flag, number in found]


def measure_meanings(report: Report) -> list[tuple[str, str]]:
    """(measure, meaning) of every measure of the study that is known."""
    pairs = ((name, words.measure_meaning(name)) for name in report.measures)
    return [(name, meaning) for name, meaning in pairs if meaning]


def null_figures(report: Report) -> list[tuple[str, str, str]]:
    """(class of backends, statistic, value) of what the client itself can send."""
    found = []
    for backend, figures in report.context.null_ms.items():
        for name, value in figures.items():
            nested = value if isinstance(value, dict) else {"": value}
            for stat, number in nested.items():
                if stat == "n":
                    continue
                found.append((backend, f"{name} {stat}".strip(), numbers.milliseconds(number)))
    return found


@dataclass(frozen=True, slots=True)
class Command:
    """A command line that recomputes figures of one trial, and what this report says of them."""

    line: str
    expected: tuple[tuple[str, str, str], ...]
    """(measure of the tool, value that it gives, what that is in this report)."""


def commands(report: Report, present: frozenset[str]) -> list[Command]:
    """How to recompute the example trial's figures from `runs/` and `truth/`."""
    row = report.example
    if row is None or row.status != "ok":
        return []
    found = row.trial.get("quality") or {}
    since = report.context.relevant_from
    told = [name for name in found if numbers.finite(found[name]) is not None]
    recipes = [words.recipe(name, since) for name in told]
    lines = []
    for truth in ("truth/judgments.qrels", "truth/neighbours.qrels.gz"):
        fitting = [r for r in recipes if r is not None and r.truth == truth]
        truth = words.truth_under(truth, row.details.get("filter"))
        if not fitting or truth not in present:
            continue
        asked = " ".join(f"'{r.measure}'" for r in fitting)
        expected = tuple(_expected(report, row, recipe) for recipe in fitting)
        lines.append(Command(f"ir_measures {truth} runs/{row.key}.run.gz {asked}", expected))
    return lines


def _expected(report: Report, row: Row, recipe: words.Recipe) -> tuple[str, str, str]:
    """The tool's mean is over all judged queries; ours leaves out those without relevants."""
    value, n = row.trial["quality"][recipe.name], (row.trial.get("measure_n") or {})[recipe.name]
    context, filter_ = report.context, row.details.get("filter")
    judged = context.judged_under.get(str(filter_)) if filter_ else context.judged_queries
    here = f"{recipe.name} of this report"
    if recipe.truth != "truth/judgments.qrels" or not judged or n == judged:
        return recipe.measure, numbers.quality(value), here
    here = (
        f"{here}, {numbers.quality(value)} over the {numbers.count(n)} queries that something is "
        f"relevant to: the others of {numbers.count(judged)} count 0 there"
    )
    return recipe.measure, numbers.quality(value * n / judged), here


_FILES = (
    ("report.html", "this report, one file, no network needed"),
    ("report.md", "the same in Markdown"),
    ("summary.json", "every figure, for scripts (schema version 1)"),
    ("trials.csv", "one line a trial"),
    ("latency_quality.png", "plot: latency against quality"),
    ("qps_quality.png", "plot: capacity against quality"),
    ("memory_quality.png", "plot: index size against quality"),
    ("heatmap.png", "plot: num_tables × hash_length"),
    ("study.sqlite", "the study: every trial as measured; the same command resumes it"),
    ("deploy", "the pick as files for production; begin with deploy/README.md"),
    ("runs", "the answers that were scored, a TREC run per trial (runs/<key>.run.gz)"),
    ("truth/judgments.qrels", "the judgments, TREC qrels"),
    ("truth/neighbours.qrels.gz", "exact neighbours with their tie class, TREC qrels"),
)
_ALWAYS = 8


def files(present: frozenset[str]) -> list[tuple[str, str]]:
    """(name, meaning) of what lies in the folder."""
    return [
        (name, meaning)
        for index, (name, meaning) in enumerate(_FILES)
        if index < _ALWAYS or name in present
    ]
