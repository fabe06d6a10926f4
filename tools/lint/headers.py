#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each header compiles on its own, so that no file depends on the order of its includes.

    headers.py [ROOT]
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILE = ["-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-DSIDESTEP_DEBUG",
           # CMake tells these to the tests.
           '-DSIDESTEP_PROGRAM=""', '-DSIDESTEP_GOLDEN_DIRECTORY=""']


def check(root, header):
    command = [os.environ.get("CXX", "g++"), *COMPILE, f"-I{root}/include", f"-I{root}/src", f"-I{root}/tests", "-"]
    compiled = subprocess.run(command, input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
    return "" if compiled.returncode == 0 else f"{header.relative_to(root)} does not compile alone:\n{compiled.stderr}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    headers = [header for top in ("include", "src", "tests") for header in sorted((root / top).rglob("*.hpp"))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(lambda header: check(root, header), headers) if text]
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
