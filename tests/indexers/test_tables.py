"""LSH tables in process against sets of prefixes and plain integers."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.backends.tables import Tables, key_shape
from indexers.errors import BackendError, SettingError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.kernels.tables import sort_table
from indexers.types import Fingerprints, Status

BACKEND = Tables(BackendConfig())


def spec(num_tables, hash_lengths, bits, family=None):
    return IndexSpec("tables", "lsh", family, num_tables, tuple(hash_lengths), bits)


def build(fingerprints, folder, num_tables, hash_lengths):
    folder.mkdir(parents=True, exist_ok=True)
    what = spec(num_tables, hash_lengths, fingerprints.bits, "minhash")
    if fingerprints.atom == "bit":
        what = spec(num_tables, hash_lengths, fingerprints.bits, "simhash")
    return BACKEND.build(what, Documents([], [], fingerprints), folder)


def ask(handle, queries, **params):
    searcher = BACKEND.open(handle, SearchParams(**params), Queries([], queries), [])
    hits = [searcher.search(row) for row in range(len(queries))]
    searcher.close()
    return [(h.ordinals.tolist(), h.scores.tolist()) for h in hits]


def prefix(fingerprints, table, row, length):
    """The first atoms as a text of bits or a tuple of rows."""
    words = [int(word) for word in fingerprints.keys[table, :, row]]
    if fingerprints.atom == "row":
        return tuple(words[:length])
    return "".join(f"{word:032b}" for word in words)[:length]


def expected(docs, queries, *, k, num_tables, hash_length, rerank="code"):
    answers = []
    for q in range(len(queries)):
        scored = []
        for d in range(len(docs)):
            if docs.status[d] or queries.status[q]:
                continue
            if not any(
                prefix(docs, t, d, hash_length) == prefix(queries, t, q, hash_length)
                for t in range(num_tables)
            ):
                continue
            if rerank == "code":
                a, b = (int.from_bytes(f.codes[r].tobytes()) for f, r in ((docs, d), (queries, q)))
                scored.append((docs.bits - (a ^ b).bit_count(), d))
            else:
                pairs = zip(
                    docs.signatures[d].tolist(), queries.signatures[q].tolist(), strict=True
                )
                scored.append((sum(a == b for a, b in pairs), d))
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        answers.append(([d for _, d in scored[:k]], [float(s) for s, _ in scored[:k]]))
    return answers


def random_fingerprints(seed, n, atom, *, tables=3, words=2, width=3, spread=2):
    """Few different values of everything, so that most scores and keys tie."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2**32, (spread, words), dtype=np.uint32)
    pool[:, 0] = rng.integers(0, 4, spread) << 30  # short prefixes are shared too
    keys = pool[rng.integers(0, spread, (tables, n))].transpose(0, 2, 1)
    return Fingerprints(
        status=rng.choice([0, 0, 0, 1, 3], n).astype(np.uint8),
        codes=rng.choice([0, 1, 255], (n, width)).astype(np.uint8),
        keys=np.ascontiguousarray(keys),
        atom=atom,
        signatures=rng.integers(0, 3, (n, 5), dtype=np.uint32),
    )


def hand_made(status=(0, 0, 0, 0)):
    return Fingerprints(
        status=np.array(status, np.uint8),
        codes=np.array([[0b1111], [0b0111], [0b0000], [0b1110]], np.uint8),
        keys=np.array([[[0xA0000000, 0xAF000000, 0xB0000000, 0x20000000]]], np.uint32),
        atom="bit",
    )


def question():
    return Fingerprints(
        np.zeros(1, np.uint8),
        np.array([[0b1111]], np.uint8),
        np.array([[[0xA0000000]]], np.uint32),
        "bit",
    )


@pytest.mark.parametrize(
    ("hash_length", "ordinals", "scores"),
    [
        (1, [0, 1, 2], [8, 7, 4]),  # 1…: all but the last
        (4, [0, 1], [8, 7]),  # 1010
        (5, [0], [8]),  # 10100: 0xAF goes on with 1
        (32, [0], [8]),
    ],
)
def test_hand_worked(tmp_path, hash_length, ordinals, scores):
    handle = build(hand_made(), tmp_path, 1, [32])
    assert ask(handle, question(), k=4, num_tables=1, hash_length=hash_length) == [
        (ordinals, scores)
    ]


def test_ties_go_to_the_lower_ordinal_and_skip_documents_that_are_not_ok(tmp_path):
    docs = hand_made(status=(0, 2, 0, 0))
    docs = Fingerprints(docs.status, np.zeros((4, 1), np.uint8), docs.keys & 0, "bit")
    queries = question().take(np.array([0]))
    queries.keys[:] = 0
    handle = build(docs, tmp_path, 1, [8])
    assert handle.documents == 3
    assert ask(handle, queries, k=2, num_tables=1, hash_length=8) == [([0, 2], [4, 4])]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(0, 90),
    atom=st.sampled_from(["bit", "row"]),
    k=st.integers(1, 12),
    num_tables=st.integers(1, 3),
    spread=st.integers(1, 30),
    data=st.data(),
)
def test_agrees_with_sets_of_prefixes(seed, n, atom, k, num_tables, spread, data):
    hash_length = data.draw(st.integers(1, 64 if atom == "bit" else 2))
    docs = random_fingerprints(seed, n, atom, spread=spread)
    queries = random_fingerprints(seed, 4, atom, spread=spread)
    params = {"k": k, "num_tables": num_tables, "hash_length": hash_length}
    with tempfile.TemporaryDirectory() as folder:
        handle = build(docs, Path(folder) / "index", 3, [64 if atom == "bit" else 2])
        assert ask(handle, queries, **params) == expected(docs, queries, **params)
        if atom == "row":
            params["rerank"] = "signature"
            assert ask(handle, queries, **params) == expected(docs, queries, **params)


def test_one_build_serves_what_a_build_a_setting_serves(tmp_path):
    docs, queries = (random_fingerprints(s, 300, "bit", spread=40) for s in (1, 2))
    shared = build(docs, tmp_path / "shared", 3, [1, 5, 33])
    for tables in (1, 2, 3):
        for length in (1, 5, 33):
            alone = build(docs, tmp_path / f"{tables}-{length}", tables, [length])
            params = {"k": 7, "num_tables": tables, "hash_length": length}
            assert ask(shared, queries, **params) == ask(alone, queries, **params)


def test_threads_share_a_searcher(tmp_path):
    docs, queries = (random_fingerprints(s, 500, "row", spread=9) for s in (3, 4))
    handle = build(docs, tmp_path, 3, [2])
    searcher = BACKEND.open(handle, SearchParams(9, 3, 1), Queries([], queries), [])
    alone = [searcher.search(row).ordinals.tolist() for row in range(500)]
    with ThreadPoolExecutor(4) as pool:
        together = [h.ordinals.tolist() for h in pool.map(searcher.search, range(500))]
    assert together == alone
    assert any(alone)


def test_files_do_not_depend_on_the_number_of_threads(tmp_path, monkeypatch):
    docs = random_fingerprints(5, 200, "row")
    one, many = tmp_path / "one", tmp_path / "many"
    build(docs, many, 3, [2])
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    build(docs, one, 3, [2])
    for file in many.iterdir():
        assert file.read_bytes() == (one / file.name).read_bytes()


@pytest.mark.parametrize("words", [1, 3])
def test_sorting_is_lexicographic_and_stable(words):
    rng = np.random.default_rng(6)
    keys = rng.choice(
        np.array([0, 1, 2047, 2048, 2**22, 2**31, 2**32 - 1], np.uint32), (words, 999)
    )
    assert sort_table(keys).tolist() == sorted(range(999), key=lambda i: tuple(keys[:, i]))


@pytest.mark.parametrize(
    ("length", "atom", "shape"),
    [(1, "bit", (1, 31)), (32, "bit", (1, 0)), (33, "bit", (2, 31)), (3, "row", (3, 0))],
)
def test_words_of_a_key(length, atom, shape):
    assert key_shape(length, atom) == shape


@pytest.mark.parametrize("statuses", [(), (Status.EMPTY, Status.TOO_SHORT)])
def test_an_index_without_documents_answers_nothing(tmp_path, statuses):
    docs = hand_made().take(np.arange(len(statuses)))
    docs.status[:] = statuses
    handle = build(docs, tmp_path, 1, [8])
    assert handle.documents == 0
    assert ask(handle, question(), k=3, num_tables=1, hash_length=8) == [([], [])]


def test_size_is_that_of_the_files(tmp_path):
    handle = build(hand_made(), tmp_path, 1, [8])
    assert handle.size_bytes == sum(f.stat().st_size for f in tmp_path.rglob("*"))


def test_a_build_that_fails_leaves_nothing(tmp_path):
    folder = tmp_path / "index"
    with pytest.raises(SettingError, match="fingerprint with the largest sizes"):
        build(hand_made(), folder, 2, [8])
    assert not folder.exists()


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("indexers.backends.tables.np.save", full)
    with pytest.raises(BackendError, match="No space left"):
        build(hand_made(), tmp_path / "index", 1, [8])
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"num_tables": 2, "hash_length": 8}, "num_tables 2 is not within 1 to 1"),
        ({"num_tables": 0, "hash_length": 8}, "num_tables 0"),
        ({"num_tables": 1, "hash_length": 9}, "hash_length 9 is not within 1 to 8"),
        ({"num_tables": 1, "hash_length": None}, "hash_length None"),
        ({"num_tables": 1, "hash_length": 8, "rerank": "no"}, "simhash has no rerank 'no'"),
        ({"num_tables": 1, "hash_length": 8, "rerank": "signature"}, "choose from code"),
    ],
)
def test_parameters_that_were_not_built(tmp_path, params, problem):
    handle = build(hand_made(), tmp_path, 1, [8])
    with pytest.raises(SettingError, match=problem):
        ask(handle, question(), k=1, **params)


def test_signatures_must_be_stored(tmp_path):
    docs = random_fingerprints(0, 9, "row")
    bare = Fingerprints(docs.status, docs.codes, docs.keys, "row")
    handle = build(bare, tmp_path, 3, [2])
    with pytest.raises(SettingError, match="fingerprint with signatures"):
        ask(handle, docs, k=1, num_tables=1, hash_length=1, rerank="signature")


def test_queries_must_fit(tmp_path):
    handle = build(random_fingerprints(0, 9, "bit", tables=3), tmp_path, 3, [8])
    narrow = random_fingerprints(0, 2, "bit", tables=1)
    with pytest.raises(SettingError, match="hold 1 tables"):
        ask(handle, narrow, k=1, num_tables=2, hash_length=8)
    other = random_fingerprints(0, 2, "bit", width=4)
    with pytest.raises(BackendError, match="24 bits and the fingerprints 32"):
        ask(handle, other, k=1, num_tables=1, hash_length=8)


def test_a_damaged_file_is_one_line(tmp_path):
    handle = build(hand_made(), tmp_path, 1, [8])
    (tmp_path / "order.npy").write_bytes(b"no array")
    with pytest.raises(BackendError, match=r"order\.npy cannot be opened: .*; build it again"):
        ask(handle, question(), k=1, num_tables=1, hash_length=8)
    BACKEND.drop(handle)
    BACKEND.drop(handle)
    with pytest.raises(BackendError, match="cannot be opened"):
        ask(handle, question(), k=1, num_tables=1, hash_length=8)
