"""The server as a program of its own, as people start it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.cli.command_line import environment
from tests.server.live import Live

COMMAND = [sys.executable, "-m", "memoranda", "serve", "--port", "0", "--store"]


class Program:
    """A server that runs as a process; ``log`` is what it wrote to standard error."""

    def __init__(self, url: str, **variables: str) -> None:
        self.log: list[str] = []
        self._serves = threading.Event()
        self._address = ""
        self.process = subprocess.Popen(
            [*COMMAND, url], env=environment(**variables), stderr=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        assert self._serves.wait(60), self.log
        assert self._address, self.log
        self.live = Live(url, self._address)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))
            found = re.match(r"Serving on (http://\S+)", line)
            if found:
                self._address = found[1]
                self._serves.set()
        self._serves.set()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ends(self) -> int:
        """Its exit code, once it has ended and all it wrote is read."""
        code = self.process.wait(60)
        self._reader.join()
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code

    def access_log(self) -> list[Any]:
        """The lines about requests."""
        lines = [json.loads(line) for line in self.log if line.startswith("{")]
        return [line for line in lines if line["event"] == "request"]


@contextmanager
def program(url: str, **variables: str) -> Generator[Program]:
    """A server as a process, gone at the end whatever happens."""
    running = Program(url, **variables)
    try:
        yield running
    finally:
        running.process.kill()
        running.ends()
