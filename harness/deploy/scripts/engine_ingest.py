"""Index documents as the study measured it; run it again to update them.

The index is made where it is missing, with the settings and mapping of index.json. One of this
name that was made otherwise is left as it is. Credentials come from the environment, see README.md.
"""

import argparse
from pathlib import Path

from harness.deployed import Deployment, plainly
from harness.progress import Progress

HERE = Path(__file__).parent


def main() -> None:
    """Read the arguments, then the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="of the server, without credentials")
    parser.add_argument("--index", required=True, help="name of the index")
    parser.add_argument("--vectors", help=".npy in the order of the documents, or Parquet with ids")
    parser.add_argument("--model", help="folder of the model that makes the vectors")
    parser.add_argument("documents", type=Path, help='JSON lines: {"_id": "1", "text": "…"}')
    given = parser.parse_args()
    with plainly():
        deployment = Deployment(HERE, given.model)
        index = deployment.index(given.url, given.index)
        made = index.ensure(deployment.index_body())
        print(f"{'made' if made else 'found'} index {given.index}")
        with Progress().stage("documents", None) as advance:
            blocks = deployment.documents(given.documents, given.vectors)
            done, left_out = index.put(blocks, advance)
        print(f"indexed {done} documents; {left_out} have no usable text and were left out")


if __name__ == "__main__":
    main()
