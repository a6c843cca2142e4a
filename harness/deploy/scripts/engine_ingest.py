"""Index documents as the study measured it; run it again to update them.

The index is made where it is missing, with the settings and mapping of index.json. One of this
name that was made otherwise is left as it is. Credentials come from the environment, see README.md.
"""

import argparse
from pathlib import Path

from harness.deploy.command import engine_options, ingest_options, plainly
from harness.deploy.deployment import Deployment
from harness.progress import Progress

HERE = Path(__file__).parent


def main() -> None:
    """Read the arguments, then the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    engine_options(parser)
    ingest_options(parser)
    given = parser.parse_args()
    with plainly():
        deployment = Deployment(HERE, given.model)
        with Progress().stage("looking through the file", None) as advance:
            count = deployment.check(given.documents, given.vectors, advance)
        index = deployment.index(given.url, given.index)
        made = index.ensure(deployment.index_body())
        print(f"{'made' if made else 'found'} index {given.index}")
        with Progress().stage("documents", count) as advance:
            blocks = deployment.documents(given.documents, given.vectors)
            done, left_out = index.put(blocks, advance)
        print(f"indexed {done} documents; {left_out} have no usable text and were left out")


if __name__ == "__main__":
    main()
