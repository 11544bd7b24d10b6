"""Memoranda keeps an AI agent's memory: exact, safe, durable.

    from memoranda import Memory

    memory = Memory.open("./memory", user="acme")
    memory.execute({"command": "view", "path": "/memories"})

Everything here is loaded at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "Approval",
    "AsyncMemory",
    "Auditing",
    "AwaitsApproval",
    "Conflict",
    "Corrupt",
    "Expiry",
    "InjectionMarks",
    "Limits",
    "MemorandaError",
    "Memory",
    "Misuse",
    "Mount",
    "Policy",
    "Redaction",
    "Refused",
    "Retention",
    "StoredMemory",
    "ToolResult",
    "Unavailable",
    "errors",
]

_HOMES = {
    "Approval": "memoranda.policies.approval",
    "AsyncMemory": "memoranda.async_memory",
    "Auditing": "memoranda.policies.audit",
    "Expiry": "memoranda.policies.expiry",
    "InjectionMarks": "memoranda.policies.injection",
    "Limits": "memoranda.policies.limits",
    "Memory": "memoranda.memory",
    "Mount": "memoranda.policies.mount",
    "Policy": "memoranda.policies.policy",
    "Redaction": "memoranda.policies.redaction",
    "Retention": "memoranda.stores.base",
    "StoredMemory": "memoranda.operations.read_memory",
    "ToolResult": "memoranda.reply",
}

if TYPE_CHECKING:
    from memoranda import errors
    from memoranda.async_memory import AsyncMemory
    from memoranda.errors import (
        AwaitsApproval,
        Conflict,
        Corrupt,
        MemorandaError,
        Misuse,
        Refused,
        Unavailable,
    )
    from memoranda.memory import Memory
    from memoranda.operations.read_memory import StoredMemory
    from memoranda.policies.approval import Approval
    from memoranda.policies.audit import Auditing
    from memoranda.policies.expiry import Expiry
    from memoranda.policies.injection import InjectionMarks
    from memoranda.policies.limits import Limits
    from memoranda.policies.mount import Mount
    from memoranda.policies.policy import Policy
    from memoranda.policies.redaction import Redaction
    from memoranda.reply import ToolResult
    from memoranda.stores.base import Retention
else:
    # Not for type checkers: they know the names above, and should know of no others.
    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = import_module(_HOMES.get(name, "memoranda.errors"))
        if name != "errors":
            found = getattr(found, name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
