"""Ask an index that ingest.py built: query, rank, id and score, or JSON with --json."""

import argparse
from pathlib import Path

from harness.deploy.command import asked, folder_option, plainly, query_arguments, query_options
from harness.deploy.deployment import Deployment
from harness.deploy.files import told

HERE = Path(__file__).parent


def main() -> None:
    """Read the arguments, then ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    folder_option(parser)
    query_options(parser)
    given = query_arguments(parser)
    with plainly():
        deployment = Deployment(HERE, given.model)
        ids, queries, search = asked(deployment, given)
        answers = deployment.ask_folder(given.folder, queries, search)
        for line in told(ids, answers, as_json=given.json):
            print(line)


if __name__ == "__main__":
    main()
