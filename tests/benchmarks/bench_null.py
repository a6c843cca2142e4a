"""What the load generator itself can send: `python tests/benchmarks/bench_null.py`.

Prints, for a null index in process and one behind HTTP, latency at the default rates, capacity,
and how long a trial takes beyond its schedule.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

from loadtest.profile import LoadProfile
from loadtest.runner import LoadRunner

ROW = "{:8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9}"


def main(samples: int) -> None:
    print(
        ROW.format(
            "where", "rate/s", "p50 ms", "p99 ms", "max ms", "svc p50", "qps", "sent/s", "over s"
        )
    )
    with LoadRunner() as runner:
        runner.calibrate(False, LoadProfile(1000, samples=10, burst_s=0), k=10, queries=10)
        for remote, rate in ((False, 1000), (True, 1000), (False, 100), (True, 100)):
            profile = LoadProfile(rate_per_s=rate, samples=samples)
            began = perf_counter()
            result = runner.calibrate(remote, profile, k=10, queries=min(samples, 200))
            over_s = perf_counter() - began - samples / rate - profile.burst_s
            p50, p99, worst = np.percentile(result.latency_ms, (50, 99, 100))
            service = np.median(result.service_ms)
            numbers = [f"{value:.3f}" for value in (p50, p99, worst, service)]
            where = "http" if remote else "process"
            rest = [f"{result.qps:.0f}", f"{result.rate_per_s:.1f}", f"{over_s:.2f}"]
            print(ROW.format(where, rate, *numbers, *rest))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
