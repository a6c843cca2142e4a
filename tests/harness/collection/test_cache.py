"""The cache keeps what is whole and never stands in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.collection import cache, digest
from indexers.errors import CorpusError


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "harness"


def test_what_was_written_is_read(root: Path) -> None:
    assert cache.read("a/b") is None
    cache.write("a/b", b"")
    assert cache.read("a/b") == b""
    cache.write("a/b", b"content")
    assert cache.read("a/b") == b"content"
    assert [path.name for path in (root / "a").iterdir()] == ["b"]


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 100])
def test_a_damaged_entry_is_none(root: Path, damage: bytes) -> None:
    cache.write("a", b"content")
    (root / "a").write_bytes(damage)
    assert cache.read("a") is None


def test_a_cut_entry_is_none(root: Path) -> None:
    cache.write("a", b"content")
    (root / "a").write_bytes((root / "a").read_bytes()[:-1])
    assert cache.read("a") is None


def test_a_file_in_place_of_the_folder_is_no_error(root: Path) -> None:
    root.parent.mkdir()
    root.write_text("in the way")
    cache.write("a/b", b"content")
    assert cache.read("a/b") is None


def test_a_folder_in_place_of_an_entry_is_no_error(root: Path) -> None:
    (root / "a" / "inside").mkdir(parents=True)
    cache.write("a", b"content")
    assert cache.read("a") is None
    assert [path.name for path in root.iterdir()] == ["a"]


def test_a_relative_cache_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "harness"


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    cache.write("a", b"content")
    assert cache.read("a") is None


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(digest, "REMEMBER_BYTES", 4)
    path = tmp_path / "large"
    path.write_bytes(b"12345678")
    os.utime(path, ns=(10**18, 10**18))
    return path


def test_a_large_file_is_hashed_once(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = digest.of_file(large)

    def unread(*_: object) -> None:
        raise AssertionError("the file was read again")

    monkeypatch.setattr(digest, "_hashed", unread)
    assert digest.of_file(large) == first


def test_changed_bytes_give_another_digest_although_size_and_time_agree(large: Path) -> None:
    first = digest.of_file(large)
    large.write_bytes(b"87654321")
    os.utime(large, ns=(10**18, 10**18))
    assert digest.of_file(large) != first


def test_a_file_written_just_now_is_not_remembered(large: Path, root: Path) -> None:
    os.utime(large)
    digest.of_file(large)
    assert not (root / "digests").exists()


def test_the_digest_is_blake2b_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    # BLAKE2b-128 of nothing
    assert digest.of_file(path) == "cae66941d9efbd404e4d88758ea67670"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read"):
        digest.of_file(tmp_path / "none")


def test_parts_of_text_are_told_apart() -> None:
    assert digest.of_text("ab", "c") != digest.of_text("a", "bc")
    assert len(digest.of_text("ab")) == 32
