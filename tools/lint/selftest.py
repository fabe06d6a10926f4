#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks a small tree in each way that the lints look for, and sees them complain: a lint that stays green is none."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LINTS = Path(__file__).resolve().parent
TABLE = "| `net` | headers | – |\n| `fib` | routes | `net` |\n"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def run(lint, files):
    """Exit code and output of a lint over a tree of these files (path → text)."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in {"ARCHITECTURE.md": TABLE, **files}.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, LINTS / lint, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class Lints(unittest.TestCase):
    def passes(self, lint, files):
        code, output = run(lint, files)
        self.assertEqual((code, output), (0, ""))

    def complains(self, lint, files, words):
        code, output = run(lint, files)
        self.assertEqual(code, 1)
        self.assertIn(words, output)

    def test_layers_downwards_is_fine(self):
        self.passes("layers.py", {"src/fib/a.cpp": '#include "fib/a.hpp"\n#include <sidestep/net/prefix.hpp>\n'
                                                   "#include <sidestep/result.hpp>\n#include <vector>\n"})

    def test_layers_upwards(self):
        self.complains("layers.py", {"src/net/a.cpp": "\n#include <sidestep/fib/table.hpp>\n"},
                       "src/net/a.cpp:2: net may not include fib")
        self.complains("layers.py", {"src/net/a.hpp": '#include "fib/a.hpp"\n'}, "net may not include fib")

    def test_layers_unknown_module(self):
        self.complains("layers.py", {"src/util/a.cpp": ""}, "util is no module")
        self.complains("layers.py", {"src/net/a.cpp": '#include "util/a.hpp"\n'}, "util is no module")

    def test_layers_private_in_public(self):
        self.complains("layers.py", {"include/sidestep/fib/a.hpp": '#include "net/a.hpp"\n'}, "a public header includes")

    def test_layers_table_that_points_upwards(self):
        self.complains("layers.py", {"ARCHITECTURE.md": "| `net` | headers | `fib` |\n| `fib` | routes | – |\n"},
                       "which no row above defines")

    def test_words(self):
        self.passes("words.py", {"README.md": "RFC 8986, section 4.1; see https://www.rfc-editor.org/rfc/rfc8986\n"})
        for text in ("as in /work/main", "// TODO: later", "closes #12", "see issue 7", "this session",
                     "https://mirror.example.org/debian"):
            with self.subTest(text):
                self.complains("words.py", {"README.md": text + "\n"}, "README.md:1")

    def test_licence(self):
        self.passes("words.py", {"src/net/a.cpp": SPDX})
        self.complains("words.py", {"src/net/a.cpp": "int x;\n"}, "must say SPDX")

    def test_readme(self):
        example = "int main() {\n  return 0;\n}\n"
        self.passes("readme.py", {"README.md": "```cpp\nreturn 0;\n```\n", "examples/a/main.cpp": example})
        self.complains("readme.py", {"README.md": "```cpp\nreturn 1;\n```\n", "examples/a/main.cpp": example}, "README.md:1")

    def test_headers(self):
        self.passes("headers.py", {"src/net/a.hpp": "#pragma once\n#include <string>\ninline std::string x;\n"})
        self.complains("headers.py", {"src/net/a.hpp": "#pragma once\ninline std::string x;\n"}, "does not compile alone")


if __name__ == "__main__":
    unittest.main()
