"""The default study from start to pick, then the same command again. Run by hand when idle.

python tests/benchmarks/bench_study.py [arguments of harness tune]
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMITS_S = {"whole study": 240.0, "again": 3.0, "again with another limit": 3.0}


def seconds(*arguments):
    command = [str(Path(sys.executable).with_name("harness")), "tune", *arguments]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    assert done.returncode in (0, 3), done.returncode
    return time.perf_counter() - start


def main():
    with tempfile.TemporaryDirectory() as folder:
        same = ("--out", folder, *sys.argv[1:])
        spent = {
            "whole study": seconds("--sla-ms", "100", *same),
            "again": seconds("--sla-ms", "100", *same),
            "again with another limit": seconds("--sla-ms", "1", *same),
        }
    for name, spent_s in spent.items():
        limit_s = LIMITS_S[name]
        print(f"{name:26} {spent_s:7.1f} s   {spent_s / limit_s:.2f} of {limit_s:.0f} s")


if __name__ == "__main__":
    main()
