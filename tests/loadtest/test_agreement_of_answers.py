"""Whether a query that is asked again gets the same answer."""

import numpy as np

from indexers.index_types import Hits
from loadtest.profile import LoadProfile
from loadtest.tally import Tally


def hits(*ordinals):
    return Hits(np.array(ordinals, dtype=np.int32), np.zeros(len(ordinals)))


def tallied(*answers, k=3):
    tally = Tally(5, k)
    for query, found in answers:
        tally.compare(query, hits(*found))
    return tally.repeats, tally.agreeing


def test_the_first_answer_is_no_repeat():
    assert tallied((0, (1, 2, 3)), (1, (1, 2, 3))) == (0, 0)


def test_the_same_documents_in_the_same_order_agree():
    assert tallied((0, (1, 2, 3)), (0, (1, 2, 3)), (0, (1, 2, 3))) == (2, 2)


def test_another_order_another_document_and_fewer_do_not():
    first = (0, (1, 2, 3))
    assert tallied(first, (0, (2, 1, 3))) == (1, 0)
    assert tallied(first, (0, (1, 2, 4))) == (1, 0)
    assert tallied(first, (0, (1, 2))) == (1, 0)
    assert tallied(first, (0, ())) == (1, 0)


def test_every_answer_is_held_against_the_first():
    assert tallied((0, (1,)), (0, (2,)), (0, (2,)), (0, (1,))) == (3, 1)


def test_no_answers_agree():
    assert tallied((0, ()), (0, ())) == (1, 1)


def test_what_lies_beyond_the_answers_asked_for_is_not_looked_at():
    assert tallied((0, (1, 2, 3, 4)), (0, (1, 2, 3, 5))) == (1, 1)
    assert tallied((0, (1,)), (0, (2,)), k=0) == (0, 0)


def test_a_trial_counts_every_phase(runner, target):
    profile = LoadProfile(rate_per_s=1000, samples=50, burst_s=0.1, warmup_min=20)
    steady = runner.run(target(), profile)
    # ten queries: of all the requests of the schedule 40 at least are repeats
    assert steady.repeats == steady.agreeing > 40
    unsteady = runner.run(target(changes_at=60), profile)
    assert 0 < unsteady.agreeing < unsteady.repeats
    assert unsteady.errors == 0
