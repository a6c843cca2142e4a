"""Which files of raw arrays hash curves are made of, and which belong together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from harness.bench.curves.relevance import BALL_RANK
from indexers.errors import SettingError

Rule: TypeAlias = Literal["ball", "neighbours"]


@dataclass(frozen=True, slots=True)
class RawInput:
    """Files of raw arrays and how to read them.

    Attributes:
        codes: of documents, or of all points where `query_codes` is None; None where `family`
            makes them of the vectors.
        query_codes: None for a random split of `codes`.
        family: of vectors; hashes `vectors` in place of `codes`.
        packed: codes are bytes of 8 bits.
        bits: their width; None for the file's, or the family's default.
        labels, query_labels: equal labels are relevant.
        judgments: pairs by id, or by row number from 0 without `ids` and `query_ids`.
        ids, query_ids: one id a line.
        relevant_from: least gain that is relevant; None for 2 where any gain is, else 1.
        neighbours: relevant rows of each query.
        vectors, query_vectors: whose distances tell what is relevant.
        rule: how they tell.
        k: neighbours by cosine.
        ball_rank: of the ball rule.
        split: share, or number, of query points.
        seed: of the split, and of the family's hashes.
    """

    codes: Path | None = None
    query_codes: Path | None = None
    family: str | None = None
    packed: bool = False
    bits: int | None = None
    labels: Path | None = None
    query_labels: Path | None = None
    judgments: Path | None = None
    ids: Path | None = None
    query_ids: Path | None = None
    relevant_from: float | None = None
    neighbours: Path | None = None
    vectors: Path | None = None
    query_vectors: Path | None = None
    rule: Rule = "ball"
    k: int = 50
    ball_rank: int = BALL_RANK
    split: float | None = None
    seed: int = 123


def check(given: RawInput) -> None:
    """Refuse files that do not belong together.

    Raises:
        SettingError: relevance is not told, or told twice, or queries lack a file.
    """
    problems = [*_truth_problems(given), *_query_problems(given)]
    if problems:
        raise SettingError(*problems)


def _truth_problems(given: RawInput) -> list[str]:
    told = {
        "--labels": given.labels,
        "--judgments": given.judgments,
        "--neighbours": given.neighbours,
    }
    hashed = given.family is not None
    if not hashed:
        told["--vectors"] = given.vectors
    there = [name for name, path in told.items() if path is not None]
    if len(there) > 1:
        return [f"{' and '.join(there)}: one thing tells what is relevant; give one of them"]
    if hashed and given.vectors is None:
        return [f"--family {given.family} hashes vectors here; give --vectors, or --corpus"]
    if not there and not hashed:
        return [f"nothing tells what is relevant; give one of {', '.join(told)}"]
    return []


def _query_problems(given: RawInput) -> list[str]:
    asked = "--query-codes" if given.family is None else "--query-vectors"
    if (given.query_codes if given.family is None else given.query_vectors) is None:
        needy = {
            "--judgments": given.judgments,
            "--neighbours": given.neighbours,
            "--query-labels": given.query_labels,
            "--query-vectors": given.query_vectors,
        }
        return [
            f"{name} belongs to {asked}; give both"
            for name, path in needy.items()
            if path is not None
        ]
    problems = []
    if given.split is not None:
        problems.append(f"--split draws the queries; leave {asked} or --split out")
    for name, path, other in (
        ("labels", given.labels, given.query_labels),
        ("vectors", given.vectors, given.query_vectors),
    ):
        if path is not None and other is None:
            problems.append(f"--{name} wants --query-{name} beside {asked}")
    return problems
