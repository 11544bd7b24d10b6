"""What the tests of the contract talk to: a memory that answers commands, and a look inside."""

from __future__ import annotations

from typing import Literal, Protocol

from memoranda.command import parse
from memoranda.drive import run_now
from memoranda.path import parse_path
from memoranda.reply import ToolResult
from memoranda.stores.base import Ceiling, Context, Put, Store
from memoranda.tool import IMAGE_MAX_BYTES, VIEW_CAP_CHARS, Tool


def done(text: str) -> ToolResult:
    """The answer to a command that was done."""
    return ToolResult(text, False)


def failed(text: str) -> ToolResult:
    """The answer to a command that was refused."""
    return ToolResult(text, True)


def content_of(path: str, *lines: str) -> ToolResult:
    """The answer to a view of a file whose numbered lines are given."""
    return done(f"Here's the content of {path} with line numbers:\n" + "\n".join(lines))


def listing_of(path: str, *lines: str) -> ToolResult:
    """The answer to a view of a directory."""
    return done(
        f"Here're the files and directories up to 2 levels deep in {path}, "
        "excluding hidden items and node_modules:\n" + "\n".join(lines)
    )


class Settings(Protocol):
    """Makes a handler with settings; what is not given has its default."""

    def __call__(
        self,
        *,
        on_exists: Literal["error", "overwrite"] = ...,
        view_cap_chars: int = ...,
        image_max_bytes: int = ...,
        ceiling: Ceiling = ...,
    ) -> Handler: ...


class Handler:
    """Commands over one store, and the store's bytes behind them."""

    def __init__(
        self,
        store: Store,
        *,
        on_exists: Literal["error", "overwrite"] = "error",
        view_cap_chars: int = VIEW_CAP_CHARS,
        image_max_bytes: int = IMAGE_MAX_BYTES,
        ceiling: Ceiling = Ceiling(),
    ) -> None:
        self.store = store
        self.tool = Tool(
            store,
            on_exists=on_exists,
            view_cap_chars=view_cap_chars,
            image_max_bytes=image_max_bytes,
        )
        self._context = Context(ceiling=ceiling)

    def send(self, raw: object) -> ToolResult:
        """The answer to any input."""
        return run_now(self.tool.run(parse(raw), self._context))

    def __call__(self, command: str, /, **fields: object) -> ToolResult:
        return self.send({"command": command, **fields})

    def make(self, path: str, text: str) -> None:
        """A file made by the command for it."""
        assert self("create", path=path, file_text=text).is_error is False

    def put(self, path: str, content: bytes) -> None:
        """A file of any bytes, as an import or a person would bring it in."""
        run_now(self.store.apply([Put(parse_path(path), content)], Context(actor="external")))

    def kept(self, path: str) -> bytes:
        """What the store holds at a path."""
        return run_now(self.store.read(parse_path(path))).data

    def listed(self, path: str = "/memories") -> list[str]:
        """The paths of a listing, without the directory itself."""
        content = self("view", path=path).content
        assert isinstance(content, str)
        return [line.partition("\t")[2] for line in content.split("\n")[2:]]
