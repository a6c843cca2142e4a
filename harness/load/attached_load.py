"""Load on an index that someone else built; it is searched, never changed or removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.engine_flags import exponent_of
from harness.load.drive import Driven, drive, free_port, serve
from harness.load.figures import Figures, row_of
from harness.load.local import is_local
from harness.load.options import LoadOptions
from harness.progress import Progress
from harness.search_bodies import read_bodies
from harness.settings import ATTACHED, Setting
from harness.tuning.plan import BURST_REMOTE_S, LONGEST_TIMEOUT_S, RATE_REMOTE
from harness.tuning.sla import Sla
from indexers.address import address_of
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_root import check_let_in
from indexers.errors import BackendError, EngineUnavailable, InputError, SettingError
from loadtest.attached import hit_count, search_request
from loadtest.profile import AttachedIndex, LoadProfile, LoadResult
from loadtest.runner import LoadRunner

FIRST_ANSWER_S = 60.0
TIMEOUT_S = 10.0
"""Of a request where no limit is given."""
SEED = 123
REPEATED = "more requests than queries: what came again may have been answered from a cache"

Ended = Callable[[Figures, Sla | None], None]


def load_attached(options: LoadOptions, progress: Progress, ended: Ended) -> None:
    """Put load on someone else's index.

    Args:
        options: with an index.
        progress: where it is said how it goes.
        ended: told of the load; with `web` of every run.

    Raises:
        InputError: queries, body or index cannot be used; nothing was measured.
        EngineUnavailable: the server does not answer; nothing was measured.
        BackendError, LoadError: the index or the load broke.
    """
    if options.web:
        free_port(options.web_port)
    target, profile, sla = _target(options), _profile(options), _sla(options)
    for warning in address_of(target.engine, target.config).warnings:
        progress.say(warning)
    progress.say(f"{target.index}: {_first(target):,} hits of the first query")
    with LoadRunner() as runner:
        checked = replace(profile, samples=min(profile.samples, 1000), warmup_min=200)
        null = runner.calibrate(True, checked, k=10, queries=len(target.bodies))

        def told(driven: Driven) -> None:
            figures = _figures(target, driven, profile, null)
            ended(replace(figures, loop="page") if options.web else figures, sla)

        if not options.web:
            told(drive(runner, target, profile, progress))
            return
        serve(
            runner,
            target,
            profile,
            remote=True,
            users=options.users,
            run_s=options.duration,
            port=options.web_port,
            progress=progress,
            ended=told,
        )


def _target(options: LoadOptions) -> AttachedIndex:
    assert options.index is not None
    assert options.queries is not None
    if len(options.access) != 1:
        raise SettingError(
            "--index: name its server with --opensearch-url URL or --elasticsearch-url URL"
        )
    [(engine, config)] = options.access.items()
    bodies = read_bodies(options.queries, options.body)
    return AttachedIndex(engine, config, options.index, bodies)


def _first(target: AttachedIndex) -> int:
    """Hits of the first query: index and body are looked at before anything is measured."""
    to = address_of(target.engine, target.config)
    transport = HttpTransport(to, FIRST_ANSWER_S)
    try:
        status, body = transport(search_request(target.index, target.bodies[0]))
        check_let_in(to, status, body)
        return hit_count(target.index, status, body)
    except EngineUnavailable:
        raise
    except BackendError as error:
        raise InputError(f"{to.shown}: {error}") from None
    finally:
        transport.close()


def _profile(options: LoadOptions) -> LoadProfile:
    rate = options.rate or RATE_REMOTE
    limit_ms = options.sla_ms
    timeout_s = TIMEOUT_S if limit_ms is None else max(10 * limit_ms / 1000, 1.0)
    return LoadProfile(
        rate_per_s=rate,
        samples=options.requests(rate),
        burst_s=BURST_REMOTE_S,
        users=options.users or 4,
        seed=SEED,
        timeout_s=min(timeout_s, LONGEST_TIMEOUT_S),
        every_query=False,
        zipf_exponent=None if options.replay is None else exponent_of(options.replay),
    )


def _sla(options: LoadOptions) -> Sla | None:
    return None if options.sla_ms is None else Sla(options.sla_ms, options.sla_stat or "p99")


def _figures(
    target: AttachedIndex, driven: Driven, profile: LoadProfile, null: LoadResult
) -> Figures:
    row = row_of("", Setting(None, target.engine, ATTACHED), driven.seen, profile, null)
    if row.samples > len(target.bodies):
        row = replace(row, remarks=(*row.remarks, REPEATED))
    return Figures(
        what=f"index {target.index}",
        where=f"{target.engine} at {address_of(target.engine, target.config).shown}",
        row=row,
        profile=profile,
        lasted_s=driven.lasted_s,
        interrupted=driven.interrupted,
        shared_cores=is_local(target.engine, target.config.url),
    )
