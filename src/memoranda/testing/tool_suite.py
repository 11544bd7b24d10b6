"""The conformance suite: what any handler of Claude's memory tool keeps of the contract.

    report = run_conformance(factory)
    print(report.render())

or ``memoranda conformance module:factory``.

``factory(base_dir)`` gives a handler that keeps its memory in an empty directory, for each trial a
new one: a callable that takes the tool's ``input`` and gives ``(content, is_error)``. The report
keeps apart what fails Anthropic's published page and what only differs from Memoranda's own
decisions. Run handlers that you don't trust in a container: they are sent hostile paths.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from memoranda.errors import Misuse
from memoranda.memory import Memory
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.testing.conformance.cases import run_cases
from memoranda.testing.conformance.limits import run_limits
from memoranda.testing.conformance.malformed import run_malformed
from memoranda.testing.conformance.paths import run_paths
from memoranda.testing.conformance.races import run_races
from memoranda.testing.conformance.report import Findings, Report
from memoranda.testing.conformance.requirements import requirements
from memoranda.testing.conformance.sandbox import sandbox
from memoranda.testing.conformance.trial import Content, Factory, Grounds, Handler

SECTIONS: Final[dict[str, Callable[[Grounds], None]]] = {
    "commands": partial(run_cases, name="commands.jsonl"),
    "reports": partial(run_cases, name="reports.jsonl"),
    "paths": run_paths,
    "races": run_races,
    "limits": run_limits,
    "malformed": run_malformed,
}
"""The parts of a run: cases for each sentence, cases from public bug reports, and so on."""


def run_conformance(
    factory: Factory,
    *,
    name: str = "",
    sections: Collection[str] | None = None,
    on_section: Callable[[str], None] | None = None,
) -> Report:
    """Try every requirement on the handlers that ``factory`` makes.

    ``name`` is what the report calls the handler. ``sections`` are names of ``SECTIONS``, all of
    them unless said; ``on_section`` is told each before it begins. Makes some 500 handlers, one
    after the other, each in a temporary directory that is removed. Raises ``Misuse`` for an
    unknown section, and what ``factory`` raises.
    """
    chosen = list(SECTIONS) if sections is None else list(sections)
    unknown = [one for one in chosen if one not in SECTIONS]
    if unknown:
        raise Misuse(f"There is no section {unknown[0]}; there are {', '.join(SECTIONS)}.")
    findings = Findings(requirements())
    with sandbox() as place:
        grounds = Grounds(factory, place, findings)
        for section in chosen:
            if on_section is not None:
                on_section(section)
            SECTIONS[section](grounds)
    return Report(name or _name_of(factory), tuple(findings.outcomes()))


def find_factory(spec: str) -> Factory:
    """The factory that ``spec``, ``module:factory``, names; modules of the working directory too.

    Raises ``Misuse`` where there is none.
    """
    module_name, colon, attribute = spec.partition(":")
    if not colon:
        raise Misuse("A handler is named by module:factory.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        raise Misuse(f"There is no module {error.name}.") from error
    except AttributeError as error:
        raise Misuse(f"The module {module_name} has no {attribute}.") from error
    if not callable(found):
        raise Misuse(f"{spec} can't be called.")
    return cast("Factory", found)


def _name_of(factory: Factory) -> str:
    return getattr(factory, "__qualname__", type(factory).__name__)


# ---------------------------------------------------------------- handlers to try


class _Memoranda:
    """A ``Memory`` as a handler. Its files may get as large as those of any other handler."""

    def __init__(self, url: str) -> None:
        limits = Limits(file_bytes=None, store_bytes=None, files=None)
        self.memory = Memory.open(url, policy=Policy(limits=limits))

    def __call__(self, raw: Any) -> tuple[Content, bool]:
        return self.memory.execute(raw)

    def plant(self, path: str, content: bytes) -> None:
        """Write ``content`` as a program does."""
        self.memory.write(path, content)

    def close(self) -> None:
        """Close the memory."""
        self.memory.close()


def memoranda_folder(base_dir: str) -> Handler:
    """Memoranda itself, in a folder."""
    return _Memoranda(base_dir)


def memoranda_sqlite(base_dir: str) -> Handler:
    """Memoranda itself, in a SQLite file."""
    return _Memoranda(f"sqlite:///{base_dir}/memory.db")


def memoranda_ram(base_dir: str) -> Handler:
    """Memoranda itself, in RAM."""
    return _Memoranda("memory:")


class SdkTool:
    """A tool of the SDK, its exceptions reported as the SDK's tool runner reports them.

    ``call`` takes the input; ``root`` is the directory that stands for ``/memories``.
    """

    def __init__(self, call: Callable[[Any], Content], root: Path) -> None:
        self.call = call
        self.root = root

    def __call__(self, raw: Any) -> tuple[Content, bool]:
        try:
            return self.call(raw), False
        except Exception as error:  # noqa: BLE001 - the runner reports whatever the tool raises
            return getattr(error, "content", None) or repr(error), True

    def plant(self, path: str, content: bytes) -> None:
        """Put ``content`` where the tool looks for ``path``."""
        file = self.root.joinpath(*path.split("/")[2:])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def anthropic_sdk(base_dir: str) -> Handler:
    """The SDK's ``BetaLocalFilesystemMemoryTool``; needs the extra ``anthropic``."""
    from anthropic.tools import BetaLocalFilesystemMemoryTool

    tool = BetaLocalFilesystemMemoryTool(base_path=base_dir)
    return SdkTool(tool.call, Path(base_dir, "memories"))


def anthropic_sdk_async(base_dir: str) -> Handler:
    """The SDK's ``BetaAsyncLocalFilesystemMemoryTool``; needs the extra ``anthropic``."""
    from anthropic.tools import BetaAsyncLocalFilesystemMemoryTool

    tool = BetaAsyncLocalFilesystemMemoryTool(base_path=base_dir)
    return SdkTool(lambda raw: asyncio.run(tool.call(raw)), Path(base_dir, "memories"))
