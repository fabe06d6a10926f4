#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""borrowed_lookups.py LIBRARY: disassembles a release build of libsidestep.a and follows everything that a lookup can call.

None of it may write shared memory behind the compiler's back: no instruction with a lock prefix, no exchange with memory (which locks by
itself), no fence, and no call out of the library but to those that are named below, with the reason.
"""
import os
import re
import subprocess
import sys

ROOTS = [
    r"sidestep::lookup::Fib::input\(sidestep::rules::Flow const&\) const",
    r"sidestep::lookup::Fib::input\(std::span<.*>\) const",
    r"sidestep::lookup::Fib::output\(sidestep::rules::Flow const&\) const",
    r"sidestep::lookup::Fib::table\(.*\) const",
    r"sidestep::lookup::Fib::(in|out)put_by_walk\(.*\) const",
    r"sidestep::fib::finish_lookup\(.*\)",
    r"sidestep::fib::IntervalTrie::lookup_batch\(.*\) const",
    r"sidestep::fib::N_\w+::lookup_many_here\(.*\)",
]
ALLOWED = {
    r"sidestep::assert_failed\(.*\)": "ends the program",
    r"abort|std::terminate\(\)|_Unwind_Resume|__stack_chk_fail": "ends the program",
    r"memcmp|memcpy|memset|memmove|bcmp": "plain loads and stores",
    r"__popcountdi2": "counts bits where the processor has no instruction for it",
    r"hwy::GetChosenTarget\(\)": "reads which vectors the processor has",
}
LOCKED = re.compile(r"^(lock\b|xchg\s.*\(|[lms]fence\b|cmpxchg)")


def disassemble(library):
    """Functions by name: (instructions, names that they call or jump to)."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", "-C", library], check=True, capture_output=True, text=True).stdout
    functions, name = {}, None
    for line in text.splitlines():
        begin = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if begin:
            name = begin.group(1)
            functions.setdefault(name, ([], set()))
            continue
        if name is None:
            continue
        relocation = re.match(r"^\s+[0-9a-f]+: R_\S*(?:PLT32|PC32|32S|GOTPCRELX?)\s+(.*?)(?:[-+]0x[0-9a-f]+)?$", line)
        code = re.match(r"^\s*[0-9a-f]+:\s+(\S.*?)\s*$", line)
        if relocation and functions[name][0] and re.match(r"(call|jmp|j[a-z]+)\s", functions[name][0][-1]):
            functions[name][1].add(relocation.group(1))
        elif code:
            functions[name][0].append(code.group(1))
            inside = re.match(r"^(?:call|jmp|j[a-z]+)\s+[0-9a-f]+ <(.*?)(?:\+0x[0-9a-f]+)?>$", code.group(1))
            if inside and inside.group(1) != name:
                functions[name][1].add(inside.group(1))
    return functions


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not os.path.exists(sys.argv[1]):
        print(f"SKIPPED: {sys.argv[1]} is not there: build the release preset first (./run, or make release)")
        sys.exit(77)
    functions = disassemble(sys.argv[1])
    reached, waiting, faults = set(), [], []
    for root in ROOTS:
        found = [name for name in functions if re.fullmatch(root, name)]
        if not found:
            faults.append(f"no function like {root}: nothing was checked for it")
        waiting += [(name, name) for name in found]
    while waiting:
        name, path = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        instructions, calls = functions[name]
        faults += [f"{path}: {one}" for one in instructions if LOCKED.match(one)]
        for called in sorted(calls):
            if any(re.fullmatch(pattern, called) for pattern in ALLOWED):
                continue
            if called in functions:
                waiting.append((called, f"{path} -> {called}"))
            elif not called.startswith("."):
                faults.append(f"{path}: calls {called}, which is outside of the library")
    for fault in faults:
        print(fault)
    print(f"borrowed lookups: {len(reached)} functions, {sum(len(functions[name][0]) for name in reached)} instructions, {len(faults)} faults")
    sys.exit(1 if faults or not reached else 0)


if __name__ == "__main__":
    main()
