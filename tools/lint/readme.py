#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each C++ block of README.md stands, line by line, in an example that the tests compile and run.

    readme.py [ROOT]
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)


def flat(text):
    """The text without the indentation of its lines."""
    return "\n".join(line.strip() for line in text.splitlines())


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    examples = [flat(path.read_text()) for path in sorted((root / "examples").rglob("*.cpp"))]
    failed = False
    for block in BLOCK.finditer((root / "README.md").read_text()):
        if not any(flat(block[1]) in example for example in examples):
            line = block.string[: block.start()].count("\n") + 1
            print(f"README.md:{line}: this block is in no file of examples/")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
