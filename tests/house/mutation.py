"""``make mutation``: every change to a pure module makes a test fail, or has a reason not to.

Runs mutmut over the modules that pyproject.toml names. A mutant that no test kills has to stand in
``survivors.toml`` with the reason, by its function and its changed lines; an entry there that
matches no survivor has to go.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from typing import NamedTuple

from tests.house.repository import ROOT

TIMEOUT = "timeout"
REASONS = ROOT / "tests" / "house" / "survivors.toml"


class Survivor(NamedTuple):
    """A mutant that no test noticed: the function, the line there was and the line there is."""

    function: str
    line: str
    became: str


def mutmut(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stdout[-4000:] + done.stderr[-4000:])
    return done.stdout


def mutants(wanted: Callable[[str], bool]) -> set[Survivor]:
    """The mutants of the last run that were not killed and whose status is ``wanted``."""
    found: set[Survivor] = set()
    for mutant, status in re.findall(r"^ +(\S+): (.+)$", mutmut("results"), re.M):
        if not wanted(status):
            continue
        diff = mutmut("show", mutant).splitlines()
        gone = [line[1:].strip() for line in diff if re.match(r"-(?!--)", line)]
        new = [line[1:].strip() for line in diff if re.match(r"\+(?!\+\+)", line)]
        function = re.sub(r"__mutmut_\d+$", "", mutant).replace(".x_", ".").replace("xǁ", "")
        note = "" if status in ("survived", TIMEOUT) else f" ({status})"
        found.add(Survivor(function.replace("ǁ", "."), " ".join(gone), " ".join(new) + note))
    return found


def explained() -> set[Survivor]:
    """The survivors that have a reason."""
    if not REASONS.exists():
        return set()
    entries = tomllib.loads(REASONS.read_text()).get("survivor", [])
    assert all(entry["reason"].strip() for entry in entries)
    return {Survivor(entry["function"], entry["line"], entry["became"]) for entry in entries}


def main() -> None:
    shutil.rmtree(ROOT / "mutants", ignore_errors=True)
    print("Mutating; this takes some minutes", flush=True)
    run = mutmut("run")
    found, known = mutants(lambda status: status != TIMEOUT), explained()
    # A loop that never ends is noticed. On a busy machine so is, now and then, one that does no harm.
    slow = mutants(lambda status: status == TIMEOUT)
    for survivor in sorted(found - known):
        print(f"SURVIVED {survivor.function}\n    - {survivor.line}\n    + {survivor.became}")
    for survivor in sorted(known - found - slow):
        print(f"NO LONGER {survivor.function}\n    - {survivor.line}\n    + {survivor.became}")
    total = re.findall(r"(\d+)/\1 ", run)[-1]
    print(f"{total} mutants, {len(found)} survived, {len(found & known)} of them with a reason")
    sys.exit(not found <= known <= found | slow)


if __name__ == "__main__":
    main()
