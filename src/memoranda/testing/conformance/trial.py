"""One handler at work in an empty directory, watched from all sides.

Some things have to hold whatever is sent: nothing is raised, no answer shows the host, nothing
outside the memory is read or changed. A trial looks at every answer for them.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

from memoranda.testing.conformance.report import Findings
from memoranda.testing.conformance.sandbox import Sandbox

Content: TypeAlias = Any
"""A text or a list of ``tool_result`` content blocks; a handler under test may answer anything."""

Handler: TypeAlias = Callable[[Any], tuple[Content, bool]]
Factory: TypeAlias = Callable[[str], Handler]
"""Gets an empty directory and gives a handler that keeps its memory there.

A handler takes the tool's ``input`` and gives ``(content, is_error)``. It may have ``close()``,
and ``plant(path, content)`` to put bytes that are no text at a path, behind the commands' backs.
"""

_EXCEPTION: Final = re.compile(r"\b[A-Z]\w+(?:Error|Exception)\b|Traceback|\[Errno |\bE[A-Z]{4,8}:")
"""How an exception looks that was shown as it is, in Python and elsewhere."""

START_TOGETHER_SECONDS: Final = 30.0


@runtime_checkable
class Plants(Protocol):
    """A handler that can be given bytes."""

    def plant(self, path: str, content: bytes) -> None:
        """Make the memory at ``path`` hold ``content``."""
        ...


class Answer(NamedTuple):
    """What a handler gave, or what it raised."""

    content: Content
    is_error: bool
    raised: str | None = None

    @property
    def text(self) -> str:
        """All text of the answer; blocks of another kind appear as ``[kind]``."""
        if isinstance(self.content, str):
            return self.content
        if not self._has_blocks:
            return "" if self.content is None else str(self.content)
        return "\n".join(_text_of(block) for block in self.blocks)

    @property
    def blocks(self) -> list[Any]:
        """The content blocks; none where the content is a text."""
        return list(cast("Sequence[Any]", self.content)) if self._has_blocks else []

    @property
    def _has_blocks(self) -> bool:
        return isinstance(self.content, list | tuple)

    def __str__(self) -> str:
        """The answer as a report shows it."""
        if self.raised is not None:
            return f"raised {self.raised}"
        return f"{'error' if self.is_error else 'success'}: {self.text}"


def _text_of(block: Any) -> str:
    if not isinstance(block, dict):
        return str(block)
    fields = cast("dict[str, Any]", block)
    kind = fields.get("type")
    return str(fields.get("text", "")) if kind == "text" else f"[{kind}]"


class Trial:
    """One handler at work in an empty directory, watched from all sides."""

    def __init__(self, sandbox: Sandbox, handler: Handler, findings: Findings) -> None:
        self.sandbox = sandbox
        self.handler = handler
        self.findings = findings

    def send(self, raw: Any) -> Answer:
        """Send one input and look at the answer for what has to hold always."""
        answer = self._call(raw)
        self.findings.note("INPUT-19", raw, "no exception", answer, answer.raised is None)
        if answer.raised is None:
            self._look(raw, answer)
        return answer

    def send_all(self, inputs: Sequence[Any]) -> list[Answer]:
        """Send ``inputs`` at once, each from a thread of its own."""
        gate = threading.Barrier(len(inputs))

        def one(raw: Any) -> Answer:
            gate.wait(START_TOGETHER_SECONDS)
            return self.send(raw)

        with ThreadPoolExecutor(len(inputs)) as pool:
            return list(pool.map(one, inputs))

    def create(self, path: str, text: str = "x") -> Answer:
        """Make a file."""
        return self.send({"command": "create", "path": path, "file_text": text})

    def view(self, path: str) -> Answer:
        """View a file or a directory."""
        return self.send({"command": "view", "path": path})

    def tree(self) -> str:
        """What can be seen of the memory: two levels of listing and the content of each file."""
        listing = self.view("/memories").text
        paths = [line.partition("\t")[2] for line in listing.split("\n")[1:]]
        files = [path for path in paths if path and not path.endswith("/") and path != "/memories"]
        return "\n".join([listing, *(self.view(path).text for path in files)])

    def _call(self, raw: Any) -> Answer:
        try:
            content, is_error = self.handler(raw)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises is a finding
            return Answer("", True, f"{type(error).__name__}: {error}"[:300])
        return Answer(content, bool(is_error))

    def _look(self, raw: Any, answer: Answer) -> None:
        text, sent = answer.text, str(raw)
        # What the command itself said of the host may come back in its answer.
        host = str(self.sandbox.top)
        shown = host in text and host not in sent
        self.findings.note("INPUT-20", raw, "an answer that shows no host path", answer, not shown)
        inner = _EXCEPTION.search(text) is not None and _EXCEPTION.search(sent) is None
        self.findings.note("INPUT-20", raw, "an answer that shows no exception", answer, not inner)
        leaked = self.sandbox.token in text
        self.findings.note("GUARD-04", raw, "nothing from outside", answer, not leaked)


class Grounds:
    """Where trials are held: a factory, one sandbox for all of them, and the findings."""

    def __init__(self, factory: Factory, sandbox: Sandbox, findings: Findings) -> None:
        self.factory = factory
        self.sandbox = sandbox
        self.findings = findings

    @contextmanager
    def trial(self, case: str) -> Generator[Trial]:
        """A new handler in an empty directory; at its end the outside is looked at."""
        self.findings.case = case
        self.sandbox.base.mkdir()
        try:
            handler = self.factory(str(self.sandbox.base))
            try:
                yield Trial(self.sandbox, handler, self.findings)
            finally:
                close = getattr(handler, "close", None)
                if callable(close):
                    close()
            for where, what in self.sandbox.changes():
                self.findings.note("GUARD-04", where, "an untouched outside", what, kept=False)
        finally:
            shutil.rmtree(self.sandbox.base, ignore_errors=True)
