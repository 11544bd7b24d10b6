"""The cases that are data: commands in order, and what each has to answer.

``cases/commands.jsonl`` proves the contract sentence by sentence, ``cases/reports.jsonl`` holds
what public bug reports of other handlers tell. One JSON object a line: the ``requirement``, a
``title``, and ``steps``, each of them one of

- ``{"input": ..., "expect": ...}``: send, compare (``expectation.py`` says how)
- ``{"parallel": [input, ...], "expect": ..., "ok_count": n}``: send at once; compare each, and
  how many succeeded
- ``{"plant": path, "base64": ...}``: bytes that no command can write

A step that only prepares the ground has ``"setup": true``; where it fails, the case ends there
and fails with it. With ``"may_refuse"`` and a reason it may be refused (a file so large, say);
then the case ends there too, and the requirement is not tried by it.
"""

from __future__ import annotations

import base64
from typing import Any

from memoranda.testing.conformance.expectation import expanded, shortcomings
from memoranda.testing.conformance.requirements import rows
from memoranda.testing.conformance.trial import Grounds, Plants, Trial


def run_cases(grounds: Grounds, name: str) -> None:
    """Run every case of the file ``name``, each on a handler of its own."""
    for case in rows(name):
        source = case.get("source")
        with grounds.trial(case["title"] + (f" (after {source})" if source else "")) as ground:
            needs_planting = any("plant" in step for step in case["steps"])
            if needs_planting and not isinstance(ground.handler, Plants):
                reason = "the handler has no plant(path, content), and no command writes such bytes"
                grounds.findings.skip(case["requirement"], reason)
            else:
                _run(ground, case)


def _run(ground: Trial, case: dict[str, Any]) -> None:
    for step in case["steps"]:
        if "plant" in step:
            assert isinstance(ground.handler, Plants)
            ground.handler.plant(step["plant"], base64.b64decode(step["base64"]))
        elif "may_refuse" in step and ground.send(expanded(step["input"])).is_error:
            ground.findings.skip(case["requirement"], step["may_refuse"])
            return
        elif "may_refuse" not in step and not _step(ground, case["requirement"], step):
            return


def _step(ground: Trial, requirement: str, step: dict[str, Any]) -> bool:
    inputs = [expanded(raw) for raw in step.get("parallel", [step.get("input")])]
    expect = expanded(step.get("expect") or {})
    answers = ground.send_all(inputs) if len(inputs) > 1 else [ground.send(inputs[0])]
    met = True
    for raw, answer in zip(inputs, answers, strict=True):
        wanted = shortcomings(expect, answer)
        met &= ground.findings.note(requirement, raw, "; ".join(wanted), answer, not wanted)
    if "ok_count" in step:
        good = sum(not answer.is_error for answer in answers)
        wanted_count = f"{step['ok_count']} of {len(answers)} to succeed"
        right = good == step["ok_count"]
        met &= ground.findings.note(requirement, inputs, wanted_count, f"{good} did", right)
    return met or not step.get("setup")
