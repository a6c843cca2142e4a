"""Digests against ssdeep's own and the library's, statuses, n-grams, and the processes."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import ppdeep
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers import ctph, ctph_processes
from indexers.families.fuzzyhash import FAMILY
from indexers.normaliser import normalise
from indexers.types import HashParams, Status, TableSize

ROOT = Path(__file__).parents[2]
MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
SIZE = TableSize(1, 1)
WORDS = ["context", "triggered", "piecewise", "hashing", "matches", "inputs", "homologies"]


def hashed(texts, *, seed=123, n=3):
    return FAMILY.hasher(SIZE, HashParams(bits=0, seed=seed, shingle_size=n))(texts)


def strings(fp):
    return [fp.strings.take(np.array([i])).values.tobytes().decode("ascii") for i in range(len(fp))]


def made_texts(count, words=40):
    source = np.random.default_rng(11)
    return [" ".join(source.choice(WORDS, words)) + f" {i}" for i in range(count)]


@pytest.fixture
def three_processes(monkeypatch):
    monkeypatch.setattr(ctph_processes, "SMALLEST", 1)
    monkeypatch.setattr(ctph_processes.os, "sched_getaffinity", lambda _: set(range(3)))


@pytest.mark.parametrize(
    ("word", "digest"),
    [
        ("Ctph", "3:AXGBicFlgVNhBGcL6wCrFQEv:AXGHsNhxLsr2C"),
        ("CTPH", "3:AXGBicFlIHBGcL6wCrFQEv:AXGH6xLsr2C"),
    ],
)
def test_digests_are_those_of_ssdeep(monkeypatch, word, digest):
    # printed in the documentation of ssdeep's Python binding; they are of texts as they stand
    monkeypatch.setattr(ctph, "normalise", str)
    text = f"Also called fuzzy hashes, {word} can match inputs that have homologies."
    assert ctph.digests([text]) == (bytes([Status.OK]), [digest.encode()])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abXé中😀 .\x00\ud800", max_size=200), max_size=4))
def test_strings_are_the_library_s_digests_of_the_normalised_text(texts):
    fp = hashed(texts)
    for text, status, string in zip(texts, fp.status, strings(fp), strict=True):
        whole = ppdeep.hash(normalise(text).encode("utf-8", "surrogatepass"))
        assert string == (whole if status == Status.OK else "")
        assert (status == Status.EMPTY) == (not normalise(text))


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (3, 123), (7, 2**32 - 1)])
def test_hashes_follow_the_formula(n, seed):
    fp = hashed(made_texts(3), seed=seed, n=n)
    for i, string in enumerate(strings(fp)):
        size, *parts = string.split(":")
        expected = []
        for part, block in zip(parts, (int(size), 2 * int(size)), strict=True):
            start = mix(mix(seed + GAMMA & MASK) + block * GAMMA & MASK)
            grams = [part[at : at + n] for at in range(max(len(part) - n + 1, 1))]
            spelt = (int.from_bytes(gram.encode("ascii"), "big") for gram in grams)
            expected += [mix(start + value & MASK) for value in spelt]
        assert fp.hashes.take(np.array([i])).values.tolist() == expected


def test_parts_meet_where_their_block_sizes_do():
    # the second part of the shorter text and the first of the longer have one block size
    source = np.random.default_rng(1)
    longer = " ".join(f"{value:x}" for value in source.integers(0, 2**32, 160))
    fp = hashed([longer[:700], longer])
    assert [string.split(":")[0] for string in strings(fp)] == ["12", "24"]
    first, second = (set(fp.hashes.take(np.array([i])).values.tolist()) for i in range(2))
    assert first & second


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", Status.EMPTY),
        (" \t\n", Status.EMPTY),
        ("a", Status.TOO_SHORT),
        ("!!!", Status.TOO_SHORT),
        ("\x00" * 20, Status.TOO_SHORT),
        ("\x00" * 1_000_000, Status.LOW_ENTROPY),
        ("a" * 20_000, Status.LOW_ENTROPY),
        ("a" * 20_000 + "b", Status.LOW_ENTROPY),
        ("lorem ipsum dolor sit amet " * 500, Status.LOW_ENTROPY),
        ("word " * 200_000, Status.LOW_ENTROPY),
        ("😀" * 50, Status.LOW_ENTROPY),
        ("the quick brown fox jumps over a lazy dog", Status.OK),
        ("中文文本指纹 한국어 문장 النص العربي", Status.OK),
        ("\ud800 lone surrogates are hashed too", Status.OK),
    ],
)
def test_statuses(text, status):
    fp = hashed([text])
    assert Status(fp.status[0]) is status
    assert bool(len(fp.strings.values)) == bool(len(fp.hashes.values)) == (status is Status.OK)


def test_a_text_of_a_megabyte():
    source = np.random.default_rng(2)
    text = " ".join(f"{value:x}" for value in source.integers(0, 2**32, 50_000))
    text = (text * 3)[:1_000_000]
    assert hashed([text]).status.tolist() == [Status.OK]


def test_status_values_are_those_of_all_families():
    told = (ctph.OK, ctph.EMPTY, ctph.TOO_SHORT, ctph.LOW_ENTROPY)
    assert told == (Status.OK, Status.EMPTY, Status.TOO_SHORT, Status.LOW_ENTROPY)


@pytest.mark.usefixtures("three_processes")
def test_an_interrupted_process_interrupts(monkeypatch):
    monkeypatch.setattr(ctph_processes, "_COMMAND", "import os; os.kill(os.getpid(), 2)")
    with pytest.raises(KeyboardInterrupt):
        ctph_processes.digests(made_texts(4))


@pytest.mark.usefixtures("three_processes")
@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_processes_do_not_matter(count):
    texts = [*made_texts(count), "", "\x00", "é中\n" * 50, " A \ud800 lone surrogate, and more"]
    assert ctph_processes.digests(texts) == ctph.digests(texts)


@pytest.mark.usefixtures("three_processes")
def test_no_process_is_left(monkeypatch):
    started = []
    real = subprocess.Popen

    def popen(*args, **kwargs):
        started.append(real(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(ctph_processes.subprocess, "Popen", popen)
    ctph_processes.digests(made_texts(6))
    assert [child.returncode for child in started] == [0, 0, 0]
    for child in started:
        with pytest.raises(ChildProcessError):
            os.waitpid(child.pid, os.WNOHANG)


@pytest.mark.usefixtures("three_processes")
@pytest.mark.parametrize(
    ("name", "value"),
    [("executable", "/no/such/python"), ("executable", ""), ("executable", "/bin/false")],
)
def test_without_processes_the_digests_are_the_same(monkeypatch, name, value):
    monkeypatch.setattr(ctph_processes.sys, name, value)
    texts = made_texts(4)
    expected = [ppdeep.hash(text).encode() for text in texts]
    assert ctph_processes.digests(texts) == (bytes(len(texts)), expected)


@pytest.mark.usefixtures("three_processes")
def test_from_threads():
    texts = made_texts(6)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(hashed, [texts, texts])
    assert strings(first) == strings(second) == strings(hashed(texts))


SCRIPT = """
from indexers import ctph_processes
ctph_processes.SMALLEST = 1
ctph_processes.os.sched_getaffinity = lambda _: set(range(2))
print("once")
print(ctph_processes.digests(["some text that is long enough", "and another text, longer than it"]))
"""


def test_from_a_script_on_standard_input(tmp_path):
    # neither a file to import again nor a main guard
    done = subprocess.run(
        [sys.executable, "-W", "error", "-"],
        input=SCRIPT,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = (
        ppdeep.hash(text)
        for text in ("some text that is long enough", "and another text, longer than it")
    )
    assert done.stdout == f"once\n(b'\\x00\\x00', [b'{first}', b'{second}'])\n"
    assert done.stderr == ""


def _sizes(queue):
    queue.put(ctph_processes.digests(["some text that is long enough"] * 4))


@pytest.mark.usefixtures("three_processes")
def test_from_a_daemon():
    # multiprocessing lets a daemon have no children of its own kind
    context = multiprocessing.get_context("forkserver")
    queue = context.SimpleQueue()
    child = context.Process(target=_sizes, args=(queue,), daemon=True)
    child.start()
    digest = ppdeep.hash("some text that is long enough").encode()
    assert queue.get() == (bytes(4), [digest] * 4)
    child.join()
