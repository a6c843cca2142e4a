import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from harness.bench.command_curves import command
from harness.bench.curves.arrays import read_codes
from harness.bench.curves.relevance import (
    by_ball,
    by_cosine,
    judged_pairs,
    listed_pairs,
    split_rows,
)
from harness.collection.types import Judgments
from indexers.errors import InputError, SettingError

CODES = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 1, 1], [1, 1, 1, 1]]
ASKED = [[0, 0, 0, 0], [1, 1, 0, 0]]
MICRO = [1, 0.5, 0.5, 4 / 7, 0.5]


@pytest.fixture
def files(tmp_path):
    """Writes an array, or lines, and gives the path."""

    def write(name, content):
        path = tmp_path / name
        if name.endswith(".npy"):
            np.save(path, np.asarray(content))
        else:
            path.write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def raw(files):
    """Flags of the worked example."""
    return [
        *("--codes", files("db.npy", CODES), "--query-codes", files("q.npy", ASKED)),
        *("--labels", files("l.npy", [0, 1, 0, 1]), "--query-labels", files("ql.txt", [0, 1])),
    ]


def run(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)


def ask(*arguments):
    result = run(*arguments, "--json")
    if result.exception:
        raise result.exception
    return json.loads(result.stdout)


def documents_of(pairs):
    return [
        pairs.documents[a:b].tolist()
        for a, b in zip(pairs.indptr[:-1], pairs.indptr[1:], strict=True)
    ]


class TestCommand:
    def test_worked_reference(self, raw):
        found = ask(*raw)
        assert found["bits"] == 4
        assert found["queries"] == 2
        assert found["documents"] == 4
        assert found["radius"] == [0, 1, 2, 3, 4]
        assert found["micro"]["precision"] == pytest.approx(MICRO)
        assert found["micro"]["recall"] == [0.25, 0.25, 0.5, 1, 1]
        assert found["macro"]["precision"] == pytest.approx([0.5, 0.25, 0.5, 7 / 12, 0.5])
        assert found["empty_balls"] == [1, 1, 0, 0, 0]
        assert found["p_at_radius_2"] == 0.5
        assert found["AP"] == pytest.approx((5 / 6 + 2 / 3) / 2)
        assert found["rank"]["ranks"] == [1, 2, 3, 4]
        skipping = ask(*raw, "--empty", "skip", "--ties", "id")
        assert skipping["macro"]["precision"] == pytest.approx([1, 0.5, 0.5, 7 / 12, 0.5])
        assert skipping["AP"] == pytest.approx((5 / 6 + 7 / 12) / 2)

    @pytest.mark.parametrize(
        "flags",
        [
            lambda f: ["--judgments", f("j.tsv", ["0\t0\t1", "0\t2\t1", "1\t1\t1", "1\t3\t1"])],
            lambda f: [
                *("--judgments", f("j.tsv", ["x 0 a 1", "x 0 c 1", "y 0 b 1", "y 0 d 1"])),
                *("--ids", f("i.txt", "abcd"), "--query-ids", f("qi.txt", "xy")),
            ],
            lambda f: ["--neighbours", f("n.npy", [[0, 2, -1], [3, 1, 3]])],
        ],
    )
    def test_other_ways_to_tell_the_same(self, raw, files, flags):
        assert ask(*raw[:4], *flags(files))["micro"]["precision"] == pytest.approx(MICRO)

    def test_undefined_is_null(self, files):
        flags = ["--codes", files("db.npy", CODES), "--query-codes", files("q.npy", [[1, 0, 1, 0]])]
        flags += ["--labels", files("l.npy", [0] * 4), "--query-labels", files("ql.npy", [0])]
        found = ask(*flags)
        assert found["micro"]["precision"][:2] == [None, None]
        assert found["macro"]["precision"][:2] == [0, 0]

    def test_table_and_files(self, raw, tmp_path):
        result = run(*raw, "--out", tmp_path / "out")
        assert result.exception is None
        assert "radius" in result.stdout
        assert "0.5714" in result.stdout
        names = sorted(path.name for path in (tmp_path / "out").iterdir())
        assert names == [
            "curves.json",
            "precision-recall.png",
            "radius.csv",
            "radius.png",
            "rank.csv",
        ]
        assert (tmp_path / "out/radius.png").read_bytes().startswith(b"\x89PNG")
        rows = (tmp_path / "out/radius.csv").read_text().splitlines()
        assert len(rows) == 6
        assert rows[1].startswith(",0,1.0,0.25,0.125,0.5,0.25,0.125,0.5,1")

    def test_a_folder_that_cannot_be_written_is_told_before_anything_is_read(self, tmp_path):
        (tmp_path / "file").write_text("")
        flags = ["--codes", "gone.npy", "--labels", "gone.npy", "--out", tmp_path / "file"]
        fault = run(*flags).exception
        assert isinstance(fault, SettingError)
        assert "--out" in str(fault)
        assert "cannot be written" in str(fault)

    def test_split_draws_the_same_queries_on_every_run(self, files):
        random = np.random.default_rng(3)
        codes = files("c.npy", random.integers(0, 2, (60, 16)))
        labels = files("l.npy", random.integers(0, 2, 60))
        flags = ["--codes", codes, "--labels", labels, "--split", "0.25"]
        found = ask(*flags)
        assert (found["documents"], found["queries"]) == (45, 15)
        assert found == ask(*flags)
        assert found["AP"] != ask(*flags, "--seed", "4")["AP"]

    def test_vectors_hashed_by_a_family(self, files):
        pytest.importorskip("indexers.families.lsh")
        vectors = np.random.default_rng(5).normal(size=(300, 32)).astype(np.float32)
        flags = ["--vectors", files("v.npy", vectors), "--family", "lsh", "--bits", "64"]
        found = ask(*flags, "--ball-rank", "20")
        assert (found["bits"], found["documents"]) == (64, 270)
        assert "Dball" in found["relevance"]
        # far better than the share of relevant pairs, which a random order would give
        assert found["AP"] > 2 * found["micro"]["precision"][-1]

    def test_corpus(self, tmp_path):
        texts = ["red apple pie recipe", "red apple pie recipes", "blue whale song", "blue whale"]
        lines = [json.dumps({"_id": f"d{i}", "text": text}) for i, text in enumerate(texts)]
        (tmp_path / "c.jsonl").write_text("\n".join(lines))
        flags = ["--corpus", tmp_path / "c.jsonl", "--family", "simhash", "--k", "1"]
        found = ask(*flags)
        assert list(found["curves"]) == ["simhash"]
        curve = found["curves"]["simhash"]
        assert curve["queries"] == 4
        assert curve["micro"]["recall"][-1] == 1
        # a query is no document of its own ball: 3 others each
        assert curve["ball_size"][-1] == 3

    @pytest.mark.parametrize("rule", ["ball", "neighbours"])
    def test_corpus_with_vectors(self, tmp_path, rule):
        """Every document is a query, too, and not its own neighbour."""
        lines = [json.dumps({"_id": f"d{i:02}", "text": f"text {i}"}) for i in range(40)]
        (tmp_path / "c.jsonl").write_text("\n".join(lines))
        vectors = np.random.default_rng(6).normal(size=(40, 8)).astype(np.float32)
        vectors -= vectors.mean(axis=0)
        np.save(tmp_path / "v.npy", vectors)
        flags = ["--corpus", tmp_path / "c.jsonl", "--vectors", tmp_path / "v.npy"]
        flags += ["--family", "lsh", "--truth", "vectors", "--rule", rule]
        flags += ["--ball-rank", "6"] if rule == "ball" else ["--k", "2"]
        found = ask(*flags)["curves"]["lsh"]
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        distances = np.linalg.norm(units[:, None] - units[None], axis=2)
        near = distances < np.sort(distances, axis=1)[:, 5].mean()
        np.fill_diagonal(near, False)
        relevant = near.sum() if rule == "ball" else 2 * 40
        scored = near.any(axis=1).sum() if rule == "ball" else 40
        assert found["queries"] == scored
        assert found["micro"]["precision"][-1] == pytest.approx(relevant / (39 * scored))

    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            ([], "nothing to measure"),
            (["--codes", "{db}"], "nothing tells what is relevant"),
            (["--codes", "{db}", "--labels", "{l}", "--vectors", "{l}"], "--labels and --vectors"),
            (["--codes", "{db}", "--neighbours", "{l}"], "belongs to --query-codes"),
            (["--codes", "{db}", "--query-codes", "{db}", "--labels", "{l}"], "--query-labels"),
            (["--codes", "{db}", "--labels", "{l}", "--split", "9"], "from 1 to 3"),
            (["--codes", "{db}", "--labels", "{two}"], "2 labels for 4 rows"),
            (["--codes", "{db}", "--labels", "{l}", "--truth", "neighbours"], "--corpus"),
            (["--corpus", "catalogue:100", "--codes", "{db}"], "not to --corpus"),
            (["--corpus", "catalogue:100", "--family", "winnowing"], "makes no codes"),
            (["--corpus", "catalogue:100", "--family", "lsh"], "--vectors FILE or --model"),
            (["--corpus", "catalogue:100", "--truth", "vectors"], "--vectors FILE or --model"),
            (["--codes", "{db}", "--labels", "{l}", "--model", "m"], "--model belongs"),
            (["--codes", "{db}", "--vectors", "{l}", "--family", "lsh"], "give one of them"),
            (["--codes", "{db}", "--vectors", "{flat}"], "holds no vectors"),
            (["--corpus", "catalogue:100", "--packed"], "--packed belongs to --codes"),
            (["--corpus", "catalogue:100", "--rule", "ball"], "--rule has no effect where judg"),
            (["--corpus", "catalogue:100", "--k", "3"], "--k has no effect where judgments"),
            (["--corpus", "catalogue:100", "--pooling", "mean"], "--pooling belongs to --model"),
            (["--codes", "{db}", "--labels", "{l}", "--rule", "ball"], "--rule has no effect"),
            (["--codes", "{db}", "--labels", "{l}", "--k", "5"], "--k has no effect where labels"),
            (["--codes", "{db}", "--labels", "{l}", "--ball-rank", "5"], "--ball-rank has no eff"),
            (["--codes", "{db}", "--labels", "{l}", "--relevant-from", "1"], "--relevant-from has"),
            (["--codes", "{db}", "--labels", "{l}", "--ids", "{own}"], "belongs to --judgments"),
            (["--codes", "{db}", "--vectors", "{l}", "--k", "5"], "--k has no effect by the rule"),
            (["--vectors", "{l}", "--family", "lsh", "--packed"], "--packed belongs to --codes"),
            (
                [
                    *("--codes", "{db}", "--query-codes", "{db}", "--seed", "1"),
                    *("--labels", "{l}", "--query-labels", "{l}"),
                ],
                "--seed draws a split",
            ),
            (["--codes", "{db}", "--labels", "{own}", "--split", "2"], "no query has a relevant"),
        ],
    )
    def test_what_does_not_fit_is_one_line(self, files, flags, words):
        paths = {
            "db": files("db.npy", CODES),
            "l": files("l.npy", [0, 1, 0, 1]),
            "two": files("two.npy", [0, 1]),
            "flat": files("flat.npy", np.zeros((4, 2), bool)),
            "own": files("own.txt", "abcd"),
        }
        fault = run(*(flag.format(**paths) for flag in flags)).exception
        assert isinstance(fault, InputError)
        assert words in str(fault)
        assert "\n" not in str(fault)


class TestCodes:
    def read(self, files, values, **how):
        from pathlib import Path

        given = {"packed": False, "bits": None, **how}
        return read_codes(Path(files("codes.npy", values)), **given)

    @pytest.mark.parametrize(
        "values",
        [
            [[0, 1, 1], [1, 0, 0]],
            [[-1, 1, 1], [1, -1, -1]],
            np.array([[-1, 1, 1], [1, -1, -1]], np.float32),
            np.array([[0, 1, 1], [1, 0, 0]], bool),
        ],
    )
    def test_bits_and_signs_are_told_apart(self, files, values):
        bits, codes = self.read(files, values)
        assert bits == 3
        assert codes.tolist() == [[0b01100000], [0b10000000]]

    def test_packed(self, files):
        packed = np.array([[1, 0x80], [255, 0]], np.uint8)
        assert self.read(files, packed, packed=True)[0] == 16
        bits, codes = self.read(files, packed, packed=True, bits=9)
        assert (bits, codes.tolist()) == (9, packed.tolist())

    @pytest.mark.parametrize(
        ("values", "how", "words"),
        [
            ([[0, 2]], {}, "column 1: 2 is no bit"),
            ([[0.0, math.nan]], {}, "nan is no bit"),
            ([[0.5, 1]], {}, "0.5 is no bit"),
            ([[-1, 0, 1]], {}, "0 beside -1"),
            (np.array([[1, 200]], np.uint8), {}, "--packed"),
            ([["a"]], {}, "give numbers"),
            ([0, 1], {}, "one row a code"),
            (np.zeros((0, 8)), {}, "holds no codes"),
            ([[0, 1]], {"bits": 8}, "have 2 bits"),
            ([[1, 2]], {"packed": True}, "packed codes are uint8"),
            (np.array([[1]], np.uint8), {"packed": True, "bits": 9}, "hold 1 to 8 bits"),
            (np.array([[0], [1]], np.uint8), {"packed": True, "bits": 7}, "row 1: sets a bit"),
        ],
    )
    def test_other_values_are_refused(self, files, values, how, words):
        with pytest.raises(SettingError) as fault:
            self.read(files, values, **how)
        assert words in str(fault.value)

    def test_files_that_are_no_arrays(self, files, tmp_path):
        for path in (files("x.txt", ["hello"]), tmp_path / "none.npy", tmp_path):
            assert isinstance(run("--codes", path, "--labels", path).exception, SettingError)

    def test_widths_must_agree(self, files, raw):
        raw[3] = files("wide.npy", [[0] * 5] * 2)
        assert "codes have 5 bits" in str(run(*raw).exception)


class TestRelevance:
    def test_ball_rule_by_hand(self):
        """Training points 0°, 10°, 90° and 180° … on a circle whose mean is the origin."""
        degrees = np.radians([0, 10, 90, 100, 180, 190, 270, 280])
        points = np.stack([np.cos(degrees), np.sin(degrees)], axis=1)
        queries = np.concatenate([points[:1], -points[:1], np.zeros((1, 2))])
        found = by_ball(points, queries, 2)
        # the second smallest distance, the point itself included, is the one over 10 degrees
        assert found.radius == pytest.approx(2 * math.sin(math.radians(5)), abs=1e-9)
        # 10 degrees away is no closer than Dball up to rounding: ask with a wider rank
        wider = by_ball(points, queries, 3)
        assert wider.radius == pytest.approx(2 * math.sin(math.radians(40)), abs=1e-9)
        assert documents_of(wider.pairs) == [[0, 1], [4, 5], []]

    @pytest.mark.parametrize("n", range(3, 13))
    def test_equal_distances_are_not_closer(self, n):
        """Corners of a simplex are as far from each other as Dball: each is near itself alone."""
        found = by_ball(np.eye(n), np.eye(n), 2)
        assert documents_of(found.pairs) == [[corner] for corner in range(n)]
        # of unit vectors around the centre, cosine -1 / (n - 1)
        assert found.radius == pytest.approx(math.sqrt(2 + 2 / (n - 1)))

    def test_what_is_closer_by_little_is_near(self):
        """Angles of 0, 1, 2 and 3 thousandths, and the same on the other side."""
        angles = np.arange(4) * 1e-3
        points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        points = np.concatenate([points, -points])
        found = by_ball(points, points, 2)
        assert documents_of(found.pairs) == [[row] for row in range(8)]
        # the third smallest is 1 step for inner points, 2 for outer ones, 1.5 on average
        wider = by_ball(points, points, 3)
        assert documents_of(wider.pairs)[:4] == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]

    def test_ball_rule_against_its_definition(self):
        random = np.random.default_rng(8)
        training, queries = random.normal(3, 1, (80, 5)), random.normal(3, 1, (10, 5))
        everything = np.concatenate([training, queries])
        units = everything - everything.mean(axis=0)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        rows = np.linalg.norm(units[:80, None] - units[None, :80], axis=2)
        radius = np.sort(rows, axis=1)[:, 49].mean()
        near = np.linalg.norm(units[80:, None] - units[None, :80], axis=2) < radius
        found = by_ball(training, queries)
        assert found.radius == pytest.approx(radius)
        assert documents_of(found.pairs) == [np.flatnonzero(row).tolist() for row in near]

    def test_too_few_points_for_the_rule(self):
        with pytest.raises(SettingError, match="50th smallest"):
            by_ball(np.eye(9), np.eye(9))

    def test_nearest_by_cosine_keeps_ties_and_drops_zeros(self):
        documents = np.array([[2.0, 0], [0, 1], [5, 0], [0, 0], [1, 1]])
        queries = np.array([[1.0, 0], [0, 0], [1, 2]])
        assert documents_of(by_cosine(documents, queries, 1)) == [[0, 2], [], [4]]
        assert documents_of(by_cosine(documents, queries, 99))[0] == [0, 1, 2, 4]

    def test_listed_neighbours_lose_repeats_and_padding(self):
        ids = np.array([[3, 1, 3], [-1, -1, -1], [0, -1, 2]])
        assert documents_of(listed_pairs(ids)) == [[1, 3], [], [0, 2]]

    def test_judgments_count_from_two_where_there_is_a_two(self):
        judgments = Judgments(
            np.array([0, 2, 3]), np.array([0, 4, 1], np.int32), np.array([1.0, 2.0, 2.0])
        )
        assert documents_of(judged_pairs(judgments, None)) == [[4], [1]]
        assert documents_of(judged_pairs(judgments, 1)) == [[0, 4], [1]]
        with pytest.raises(SettingError, match="lower --relevant-from"):
            judged_pairs(judgments, 3)

    def test_split_covers_all_rows_once(self):
        training, queries = split_rows(50, 0.2, 123)
        assert len(queries) == 10
        assert sorted([*training, *queries]) == list(range(50))
        assert len(split_rows(50, 7, 123)[1]) == 7
        for share in (0, -1, 50, 2.5, math.nan, math.inf):
            with pytest.raises(SettingError):
                split_rows(50, share, 1)
