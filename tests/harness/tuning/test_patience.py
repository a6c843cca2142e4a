"""When a server that went away is waited for, and when no more."""

import itertools
from types import SimpleNamespace

import pytest

from harness.tuning import patience as patience_module
from harness.tuning.patience import TRIES, Patience
from indexers.errors import BackendError, EngineUnavailable, IndexMissing


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleeping moves; gives the sleeps."""
    slept = []
    made = SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr(patience_module, "time", made)
    return slept


def gone(waited_s=0.0):
    error = EngineUnavailable("no answer")
    error.waited_s = waited_s
    return error


def failing(*errors):
    """What raises these in turn, and then goes well; counts its calls."""
    left = list(errors)

    def act():
        act.calls += 1
        if left:
            raise left.pop(0)

    act.calls = 0
    return act


def always(error):
    return failing(*itertools.repeat(error, 1000))


def patience(limit_s=10.0):
    said = []
    return Patience(limit_s, said.append), said


def test_what_goes_well_is_done_once_and_nobody_looks(clock):
    made, said = patience()
    act, look = failing(), failing()
    made.persist("opensearch", act, look)
    assert (act.calls, look.calls, said, clock) == (1, 0, [], [])


def test_a_server_that_is_back_in_time_is_gone_on_with(clock):
    made, said = patience()
    act, look = failing(gone()), failing(gone(), gone(), BackendError("503"))
    made.persist("opensearch", act, look)
    assert (act.calls, look.calls) == (2, 4)
    assert sum(clock) == 3
    assert said == [
        "opensearch: no answer",
        "opensearch is waited for, up to 10 s; Ctrl-C ends it",
        "opensearch is there: going on with what is left",
    ]


def test_one_that_stays_away_is_waited_for_once_and_then_only_looked_at(clock):
    made, said = patience()
    act, look = always(gone()), always(gone())
    with pytest.raises(EngineUnavailable):
        made.persist("opensearch", act, look)
    assert act.calls == 1
    assert sum(clock) == 10
    assert said[-1] == "opensearch did not come back within 10 s: no answer"
    clock.clear()
    with pytest.raises(EngineUnavailable):
        made.persist("opensearch", act, look)
    assert (act.calls, clock) == (1, [])


def test_one_that_is_back_after_it_was_given_up_is_used(clock):
    made, _ = patience()
    with pytest.raises(EngineUnavailable):
        made.persist("opensearch", always(gone()), always(gone()))
    clock.clear()
    act = failing(gone())
    with pytest.raises(EngineUnavailable):  # nothing has finished there meanwhile
        made.persist("opensearch", act, failing())
    made.finished("opensearch")
    made.persist("opensearch", failing(gone()), failing())
    assert clock == []


def test_another_server_has_a_wait_of_its_own(clock):
    made, _ = patience()
    for name in ("opensearch", "elasticsearch"):
        with pytest.raises(EngineUnavailable):
            made.persist(name, always(gone()), always(gone()))
    assert sum(clock) == 20


@pytest.mark.usefixtures("clock")
def test_one_that_dies_time_and_again_is_given_up():
    made, _ = patience()
    act, look = always(gone()), failing()
    with pytest.raises(EngineUnavailable):
        made.persist("opensearch", act, look)
    assert (act.calls, look.calls) == (TRIES, TRIES - 1)


def test_an_index_that_is_removed_time_and_again_is_no_fault_of_the_server(clock):
    made, _ = patience()
    act = always(IndexMissing("it is gone"))
    with pytest.raises(IndexMissing):
        made.persist("opensearch", act, failing())
    assert act.calls == TRIES
    made.persist("opensearch", failing(gone()), failing(gone()))
    assert sum(clock) == 1


@pytest.mark.usefixtures("clock")
def test_other_errors_are_not_tried_again():
    made, _ = patience()
    act = always(BackendError("read-only"))
    with pytest.raises(BackendError, match="read-only"):
        made.persist("opensearch", act, failing())
    assert act.calls == 1


def test_what_was_waited_for_already_counts(clock):
    made, _ = patience()
    with pytest.raises(EngineUnavailable):
        made.persist("opensearch", always(gone(waited_s=8.0)), always(gone()))
    assert sum(clock) == 2
    made, _ = patience()
    act = failing(gone(waited_s=60.0))
    made.persist("opensearch", act, failing())  # one look in any case
    assert act.calls == 2


def test_ctrl_c_ends_the_wait(monkeypatch):
    def pressed(_):
        raise KeyboardInterrupt

    made = SimpleNamespace(monotonic=lambda: 0.0, sleep=pressed)
    monkeypatch.setattr(patience_module, "time", made)
    made, _ = patience()
    with pytest.raises(KeyboardInterrupt):
        made.persist("opensearch", always(gone()), always(gone()))
