#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the text of the project may not contain, and that each source file names its licence.

    words.py [ROOT]

A reader sees the project and nothing of the machine or the hands it was written with: no path of one machine, no host
but those a reader should visit, no number of a ticket, no note to oneself.
"""

import re
import subprocess
import sys
from pathlib import Path

HOSTS = {"www.apache.org", "www.rfc-editor.org", "datatracker.ietf.org", "www.iana.org", "keepachangelog.com", "semver.org"}
FORBIDDEN = [
    (re.compile(r"(?<![\w.])/(?:work|root|home|Users|mnt)/\w"), "a path of one machine"),
    (re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"), "a note to oneself: do it, refuse it, or write down why not"),
    (re.compile(r"(?<![\w&'\"/`(\[])#\d+\b"), "a ticket's number: say the reason itself"),
    (re.compile(r"\b(?:issue|ticket) \d+\b", re.I), "a ticket's number: say the reason itself"),
    (re.compile(r"\b(?:assistant|(?<!PPPoE )(?<!BGP )sessions?|subagent|chatbot)\b", re.I), "a word that is not of this project"),
]
URL = re.compile(r"\b(?:https?|ftp)://([^/\s>)\"'`]+)")
SOURCE = {".hpp", ".cpp", ".py"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# The licence is a legal text, and this file lists what it forbids.
EXEMPT = {"LICENSE", "tools/lint/words.py", "tools/lint/selftest.py"}


def tracked_files(root):
    """Files that git tracks or would track; outside a git tree simply all files."""
    asked = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, check=False)
    if asked.returncode == 0 and asked.stdout:
        names = sorted(set(asked.stdout.decode().split("\0")) - {""})
        return [name for name in names if (root / name).is_file()]
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def complaints_of(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, why in FORBIDDEN:
            found = pattern.search(line)
            if found:
                yield f"{name}:{number}: \"{found[0]}\" is {why}"
        for host in URL.findall(line):
            if host not in HOSTS:
                yield f"{name}:{number}: the host {host} is not among those that tools/lint/words.py allows"
    if Path(name).suffix in SOURCE and LICENCE not in "\n".join(text.splitlines()[:3]):
        yield f"{name}:1: the first lines must say {LICENCE}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    failed = False
    for name in tracked_files(root):
        if name in EXEMPT:
            continue
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a capture
        for complaint in complaints_of(name, text):
            print(complaint)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
