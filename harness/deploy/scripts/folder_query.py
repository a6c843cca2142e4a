"""Ask an index that ingest.py built: query, rank, id and score, or JSON with --json."""

import argparse
from pathlib import Path

from harness.deployed import Deployment, plainly
from harness.deployed_files import read_queries, told

HERE = Path(__file__).parent


def main() -> None:
    """Read the arguments, then ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("index"), help="of the index (index)")
    parser.add_argument("--queries", type=Path, help='JSON lines: {"_id": "1", "text": "…"}')
    parser.add_argument("--vectors", help="of the queries, in their order")
    parser.add_argument("--model", help="folder of the model that makes the vectors")
    parser.add_argument("--k", type=int, help="answers to each; those of the study by default")
    parser.add_argument("--filter", help="FIELD=VALUE, FIELD=LOW..HIGH or none")
    parser.add_argument("--json", action="store_true", help="one JSON object a query")
    parser.add_argument("text", nargs="?", help="one query")
    given = parser.parse_args()
    if (given.text is None) == (given.queries is None):
        parser.error("give one text, or --queries FILE")
    with plainly():
        deployment = Deployment(HERE, given.model)
        ids, texts = read_queries(given.queries) if given.queries else (["query"], [given.text])
        queries = deployment.queries(texts, given.vectors)
        search = deployment.search(given.k, given.filter)
        answers = deployment.ask_folder(given.folder, queries, search)
        for line in told(ids, answers, as_json=given.json):
            print(line)


if __name__ == "__main__":
    main()
