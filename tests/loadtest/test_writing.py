"""Writing at a rate: what is due when, and what is told of it."""

import threading

import numpy as np
import pytest

from indexers.errors import BackendError
from loadtest.writing import MOST_AT_ONCE, Pace, Writer, Written

ORDINALS = np.array([5, 2, 9], dtype=np.int64)


def test_documents_are_due_by_the_clock():
    pace = Pace(10.0)
    assert [pace.due(t) for t in (0.0, 0.05, 0.1, 0.35, 0.35, 1.0)] == [0, 0, 1, 2, 0, 7]
    assert pace.sent == 10


def test_what_is_late_is_sent_at_once_but_not_without_bound():
    pace = Pace(1000.0)
    assert pace.due(60.0) == MOST_AT_ONCE
    assert pace.wait_s(60.0) == 0.0
    assert pace.due(60.0) == MOST_AT_ONCE


def test_the_wait_is_a_tick_or_until_the_next_document():
    assert Pace(1000.0).wait_s(0.0) == pytest.approx(0.1)
    assert Pace(2.0).wait_s(0.0) == pytest.approx(0.5)
    slow = Pace(2.0)
    slow.due(0.6)
    assert slow.wait_s(0.6) == pytest.approx(0.4)


def test_slow_is_more_than_a_tenth_below():
    assert not Written(90, 90.0, 100.0, 100).slow
    assert Written(90, 89.9, 100.0, 100).slow
    assert Written(0, 0.0, 100.0, 1).slow


def wrote(write, until, rate_per_s=2000.0):
    """What came of writing until the event."""
    with Writer(write, ORDINALS, rate_per_s) as writer:
        assert until.wait(20)
    return writer.written


def test_documents_come_in_their_order_over_and_over():
    seen, enough = [], threading.Event()

    def write(ordinals):
        seen.extend(ordinals.tolist())
        if len(seen) >= 400:
            enough.set()

    written = wrote(write, enough)
    assert seen == [ORDINALS[i % 3] for i in range(len(seen))]
    assert written.documents == len(seen)
    assert written.errors == 0
    assert 0 < written.rate_per_s <= 2000.0
    assert written.asked_per_s == 2000.0
    assert "writer" not in {thread.name for thread in threading.enumerate()}


def test_errors_are_told_and_writing_goes_on():
    calls, enough = [], threading.Event()

    def write(ordinals):
        calls.append(len(ordinals))
        if len(calls) == 4:
            enough.set()
        if len(calls) in (1, 3):
            raise BackendError("the index\nis full")

    written = wrote(write, enough)
    assert written.errors == 2
    assert written.error_texts == ("the index is full",)
    assert written.documents == sum(calls) - calls[0] - calls[2]


def test_the_block_ends_when_the_last_request_has_ended():
    begun, ended = threading.Event(), []

    def write(ordinals):
        begun.set()
        threading.Event().wait(0.2)
        ended.append(len(ordinals))

    written = wrote(write, begun)
    assert written.documents == sum(ended) > 0


def test_where_nothing_was_due_nothing_is_slow():
    with Writer(lambda _: None, ORDINALS, 0.001) as writer:
        pass
    assert writer.written.rate_per_s == 0.0
    assert not writer.written.slow
