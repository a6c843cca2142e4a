"""What a load left unanswered is asked without load: by whom, in what order, and how long."""

import threading

import numpy as np
import pytest

from indexers.errors import BackendError
from indexers.index_types import Hits
from loadtest import afterwards
from loadtest.afterwards import ask_afterwards
from loadtest.asker import Asker
from loadtest.profile import NOT_ASKED, UNANSWERED, UNDER_LOAD, WITHOUT_LOAD, LoadProfile
from loadtest.schedule import ask_afterwards_s
from loadtest.tally import Tally

PROFILE = LoadProfile(rate_per_s=100, users=4, timeout_s=1.0)


class Threads:
    """A crew of threads."""

    remote = True

    def together(self, work, workers):
        threads = [threading.Thread(target=work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def search(self, searcher, query):
        return searcher.search(query)

    def report(self, service_s, hits, error):
        pass

    def sleep(self, seconds):
        self.slept.append(seconds)

    def __init__(self):
        self.slept = []


class Searcher:
    """Answers its own number; `fails` maps a query to how often it fails first."""

    def __init__(self, together=0, fails=()):
        self.calls, self.fails, self._lock = [], dict(fails), threading.Lock()
        self.barrier = threading.Barrier(together) if together else None

    def search(self, query):
        with self._lock:
            self.calls.append(query)
            left = self.fails.get(query, 0)
            self.fails[query] = left - 1
        if self.barrier is not None:
            self.barrier.wait(timeout=30)
        if left > 0:
            raise BackendError(f"query {query} is broken")
        return Hits(np.array([query], dtype=np.int32), np.zeros(1))


def asker_of(searcher, queries):
    return Asker(Threads(), searcher, PROFILE, Tally(queries, 1))


def rows(*values):
    return np.array(values, dtype=np.int32)


def test_what_was_never_asked_is_asked_by_as_many_as_there_are_users():
    searcher = Searcher(together=4)  # every request waits until four are on their way
    asker = asker_of(searcher, 14)
    asker.tally.keep(3, Hits(rows(3), np.zeros(1)), under_load=True)
    order = rows(*(query for query in range(13, -1, -1) if query != 0))
    ask_afterwards(asker, order, rows(3))
    assert sorted(searcher.calls) == [q for q in range(1, 14) if q != 3]
    state = asker.tally.state
    assert (state[0], state[3]) == (NOT_ASKED, UNDER_LOAD)
    assert all(state[query] == WITHOUT_LOAD for query in searcher.calls)
    assert asker.tally.answers[1:, 0].tolist() == list(range(1, 14))


def test_what_failed_under_load_or_then_is_asked_alone_at_the_end():
    searcher = Searcher(fails={5: 1, 6: 9})
    asker = asker_of(searcher, 8)
    ask_afterwards(asker, rows(*range(8)), rows(1, 2))
    assert sorted(searcher.calls[:6]) == [0, 3, 4, 5, 6, 7]
    assert searcher.calls[6:] == [1, 2, 5, 6]
    assert asker.tally.state.tolist() == [*[WITHOUT_LOAD] * 6, UNANSWERED, WITHOUT_LOAD]


def test_where_all_fail_the_trial_has_failed_and_none_is_scored_as_missed():
    searcher = Searcher(fails=dict.fromkeys(range(500), 99))
    asker = asker_of(searcher, 500)
    asker.tally.succeeded()  # so that the index does not count as broken
    with pytest.raises(BackendError, match="500 queries could not be answered, even without load"):
        ask_afterwards(asker, rows(*range(500)), rows())
    assert asker.crew.slept == list(afterwards.WAITS_S)
    assert len(searcher.calls) <= afterwards.STALLED * (2 + len(afterwards.WAITS_S)) + PROFILE.users


def test_a_stall_is_waited_for_and_costs_no_answer():
    searcher = Searcher(fails=dict.fromkeys(range(5), 3))
    asker = asker_of(searcher, 40)
    asker.tally.succeeded()
    ask_afterwards(asker, rows(*range(40)), rows(*range(40)))  # all of them were asked under load
    assert asker.crew.slept == [1.0, 2.0, 4.0]
    assert set(asker.tally.state) == {WITHOUT_LOAD}


def test_a_few_that_fail_by_themselves_are_misses():
    searcher = Searcher(fails=dict.fromkeys(range(0, 40, 2), 99))
    asker = asker_of(searcher, 40)
    asker.tally.succeeded()
    ask_afterwards(asker, rows(*range(40)), rows(*range(40)))
    assert asker.crew.slept == []
    assert asker.tally.state.tolist() == [UNANSWERED, WITHOUT_LOAD] * 20


@pytest.mark.parametrize(("unasked", "limit_s"), [(0, 120.0), (4, 121.0), (40_000, 10_120.0)])
def test_the_limit_holds_all_of_them_though_each_takes_as_long_as_it_may(unasked, limit_s):
    assert ask_afterwards_s(PROFILE, unasked) == limit_s
