"""Ask an index that ingest.py made: query, rank, id and score, or JSON with --json."""

import argparse
import json
from pathlib import Path

from harness.deploy.command import asked, engine_options, plainly, query_arguments, query_options
from harness.deploy.deployment import Deployment
from harness.deploy.files import told

HERE = Path(__file__).parent


def main() -> None:
    """Read the arguments, then ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    engine_options(parser)
    query_options(parser)
    parser.add_argument("--body", action="store_true", help="show what would be sent instead")
    given = query_arguments(parser)
    with plainly():
        deployment = Deployment(HERE, given.model)
        ids, queries, search = asked(deployment, given)
        index = deployment.index(given.url, given.index)
        index.check()
        if given.body:
            for body in index.bodies(queries, search):
                print(json.dumps(body, indent=1, ensure_ascii=False))
            return
        for line in told(ids, index.ask(queries, search), as_json=given.json):
            print(line)


if __name__ == "__main__":
    main()
