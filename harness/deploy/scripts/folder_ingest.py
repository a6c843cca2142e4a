"""Build the index of a file of documents as the study measured it; run it again to replace it."""

import argparse
from pathlib import Path

from harness.deployed import Deployment, plainly

HERE = Path(__file__).parent


def main() -> None:
    """Read the arguments, then the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("index"), help="of the index (index)")
    parser.add_argument("--vectors", help=".npy in the order of the documents, or Parquet with ids")
    parser.add_argument("--model", help="folder of the model that makes the vectors")
    parser.add_argument("documents", type=Path, help='JSON lines: {"_id": "1", "text": "…"}')
    given = parser.parse_args()
    with plainly():
        deployment = Deployment(HERE, given.model)
        done, left_out = deployment.build_folder(given.folder, given.documents, given.vectors)
        print(f"indexed {done} documents; {left_out} have no usable text and were left out")


if __name__ == "__main__":
    main()
