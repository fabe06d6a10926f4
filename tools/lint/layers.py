#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every project include against the layer table of ARCHITECTURE.md.

    layers.py [ROOT]

A module may include itself and what its row names. A public header may include public headers only. Files directly in
include/sidestep (result, assert) belong to everybody. A test, which sets a whole stage, may also include what the named
modules include in turn.
"""

import re
import sys
from pathlib import Path

ROW = re.compile(r"^\| `(?P<module>\w+)` \|.*\| (?P<includes>[^|]*) \|$")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:<sidestep/(?P<public>[^>]+)>|"(?P<own>[^"]+)")')


def read_table(architecture):
    """Module → set of modules it may include, in the order of the table."""
    table = {}
    for line in architecture.read_text().splitlines():
        row = ROW.match(line)
        if not row:
            continue
        allowed = set(re.findall(r"`(\w+)`", row["includes"]))
        unknown = allowed - table.keys()
        if unknown:
            sys.exit(f"{architecture}: {row['module']} names {sorted(unknown)}, which no row above defines")
        table[row["module"]] = allowed
    if not table:
        sys.exit(f"{architecture}: no layer table found")
    return table


def closure(table):
    """The same table with what the named modules include, and so on."""
    full = {}
    for module, allowed in table.items():  # rows above come first
        full[module] = set(allowed).union(*(full[other] for other in allowed))
    return full


def is_test(path):
    return path.stem.endswith(("_test", "_for_test"))


def module_of(path):
    """The first directory of an include path; empty for a file that belongs to everybody."""
    return path.split("/")[0] if "/" in path else ""


def check_line(where, module, is_public, line, table):
    found = INCLUDE.match(line)
    if not found:
        return None
    if found["own"] and is_public:
        return f"{where}: a public header includes the private \"{found['own']}\""
    if found["own"] and "/" not in found["own"]:
        return f"{where}: write \"{module}/{found['own']}\", with the module's name"
    other = module_of(found["public"] or found["own"])
    if other in ("", module) or other in table[module]:
        return None
    if other not in table:
        return f"{where}: {other} is no module of the layer table"
    return f"{where}: {module} may not include {other}"


def module_files(root):
    """Each C++ file of a module, with the module's name and whether it is a public header."""
    for top, is_public in (("include/sidestep", True), ("src", False)):
        for path in sorted((root / top).rglob("*")):
            parts = path.relative_to(root / top).parts
            if path.suffix in (".hpp", ".cpp") and len(parts) > 1:
                yield path, parts[0], is_public


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    table = read_table(root / "ARCHITECTURE.md")
    table_of_tests = closure(table)
    complaints = []
    for path, module, is_public in module_files(root):
        name = path.relative_to(root)
        if module not in table:
            complaints.append(f"{name}: {module} is no module of the layer table")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            complaint = check_line(f"{name}:{number}", module, is_public, line, table_of_tests if is_test(path) else table)
            if complaint:
                complaints.append(complaint)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
