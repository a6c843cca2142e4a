"""Build the index of a file of documents as the study measured it; run it again to replace it."""

import argparse
from pathlib import Path

from harness.deploy.command import folder_option, ingest_options, plainly
from harness.deploy.deployment import Deployment

HERE = Path(__file__).parent


def main() -> None:
    """Read the arguments, then the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    folder_option(parser)
    ingest_options(parser)
    given = parser.parse_args()
    with plainly():
        deployment = Deployment(HERE, given.model)
        done, left_out = deployment.build_folder(given.folder, given.documents, given.vectors)
        print(f"indexed {done} documents; {left_out} have no usable text and were left out")


if __name__ == "__main__":
    main()
