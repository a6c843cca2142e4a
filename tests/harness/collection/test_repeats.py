"""Ids that come twice."""

from harness.collection import repeats
from harness.collection.repeats import Repeats, repeated


def found(names):
    seen = Repeats()
    for name in names:
        seen.add(name)
    return list(repeated(enumerate(names), seen.doubtful()))


def test_every_return_of_an_id_is_told_with_its_first_place():
    assert found(["a", "b", "a", "c", "b", "a"]) == [(2, "a", 0), (4, "b", 1), (5, "a", 0)]
    assert found(["a", "b"]) == []
    assert found([]) == []


def test_ids_whose_digests_are_alike_are_two(monkeypatch):
    monkeypatch.setattr(repeats, "_digest", len)
    assert found(["aa", "bb", "c", "bb"]) == [(3, "bb", 1)]
