"""Pages for who answers for it all: what waits for approval, the audit, keys, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Misuse, UnknownId, Unsupported
from memoranda.server.console.pages import (
    Facts,
    action,
    field,
    go,
    key_facts,
    opened,
    shown,
    store_facts,
)
from memoranda.server.console.rendering import page, time_of
from memoranda.server.keys import ROLES
from memoranda.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp

    from memoranda.policies.proposal import Proposal
    from memoranda.server.call import Visit
    from memoranda.server.keys import Key
    from memoranda.stores.base import AuditEntry

_ENTRIES: Final = 200
_DAY_SECONDS: Final = 86_400
_MOST_DIGITS: Final = 6


# ---------------------------------------------------------------- proposals


async def proposals(visit: Visit) -> Facts:
    """What waits for a person in a store, each with its diff."""
    memory = await opened(visit)
    waiting = await memory.proposals()
    found = [{**_proposal(one), "diff": await memory.proposal_diff(one.id)} for one in waiting]
    return {"title": "Waiting", "store": await store_facts(visit), "proposals": found}


def _proposal(one: Proposal) -> Facts:
    return {
        "id": one.id,
        "path": one.path.text,
        "actor": one.actor,
        "command": one.command,
        "at": time_of(one.at_ns),
        "expires_at": time_of(one.expires_ns),
        "state": one.state,
        "flags": sorted({mark for marks in one.flags.values() for mark in marks}),
    }


async def approve(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Make what was proposed."""
    await (await opened(visit)).approve(field(form, "proposal"))
    return go(f"/stores/{visit.params['store']}/proposals", "approved")


async def reject(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Drop what was proposed."""
    reason = form.get("reason", "")
    await (await opened(visit)).reject(field(form, "proposal"), reason=reason)
    return go(f"/stores/{visit.params['store']}/proposals", "rejected")


# ---------------------------------------------------------------- audit


async def audit(visit: Visit) -> Facts:
    """Who did what in a store, oldest first from ``?after=``, and whether the chain holds."""
    memory = await opened(visit)
    given = visit.request.query_params.get("after", "")
    after = int(given) if given.isascii() and given.isdigit() and len(given) < 16 else None
    facts: Facts = {"title": "Audit", "store": await store_facts(visit), "chain": None}
    try:
        entries = await memory.audit(after=after, limit=_ENTRIES)
        if visit.request.query_params.get("verify") is not None:
            report = await memory.verify_audit()
            facts["chain"] = {
                "ok": report.ok,
                "entries": report.entries,
                "problems": [str(one) for one in report.problems],
            }
    except Unsupported:
        return {**facts, "entries": None, "after": None}
    more = entries[-1].seq if len(entries) >= _ENTRIES else None
    return {**facts, "entries": [_entry(one) for one in entries], "after": more}


def _entry(one: AuditEntry) -> Facts:
    marks = one.details.get("flags", {})
    return {
        "at": time_of(one.at_ns),
        "actor": one.actor,
        "command": one.command,
        "outcome": one.outcome,
        "path": one.path,
        "blanked": one.is_blanked,
        "flags": sorted({mark for kinds in marks.values() for mark in kinds}),
    }


# ---------------------------------------------------------------- keys


async def keys(visit: Visit) -> Facts:
    """The keys for no more than this key is for, and a form for a new one."""
    return await _keys(visit, None)


async def _keys(visit: Visit, credential: str | None) -> Facts:
    found = await visit.services.hosted.do(visit.services.keys.list())
    own = [_key(one) for one in found if visit.key.covers(one)]
    return {"title": "Keys", "keys": own, "roles": list(ROLES), "credential": credential}


def _key(one: Key) -> Facts:
    return {
        "id": one.id,
        "name": one.name,
        "role": one.role,
        "stores": one.stores,
        "created_at": time_of(one.created_at_ns),
        "expires_at": None if one.expires_at_ns is None else time_of(one.expires_at_ns),
        "revoked": one.revoked_at_ns is not None,
    }


async def create_key(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Make a key and show it, this once. Never in an address: those are kept by browsers."""
    role = field(form, "role")
    days = form.get("days", "").strip()
    is_span = days.isascii() and days.isdigit() and len(days) <= _MOST_DIGITS
    if role not in ROLES or (days and not is_span):
        raise Problem(400, "A key has a role, and counts for a whole number of days or for ever.")
    try:
        made = await visit.services.hosted.do(
            visit.services.keys.create(
                name=form.get("name", ""),
                workspace=visit.key.workspace,
                role=role,
                # Who sees some stores only can't make a key that sees more.
                stores=visit.key.stores,
                expires_in_seconds=int(days) * _DAY_SECONDS if days else None,
                # Else who has it for a day could make one for ever, for afterwards.
                no_later_than_ns=visit.key.expires_at_ns,
            )
        )
    except Misuse as error:  # what was typed can't be
        raise Problem(400, str(error)) from None
    facts = await _keys(visit, made.credential)
    return page(visit.request, "keys.html", {"key": key_facts(visit.key), **facts})


async def revoke_key(visit: Visit, form: Mapping[str, str]) -> ASGIApp:
    """Have a key count no more: one that is for no more than this key is for."""
    key_id = field(form, "id")
    hosted, known = visit.services.hosted, visit.services.keys
    key = await hosted.do(known.get(key_id))
    if not visit.key.covers(key):
        raise UnknownId("key")
    await hosted.do(known.revoke(key_id))
    visit.services.known_keys.forget()
    return go("/keys", "revoked")


# ---------------------------------------------------------------- settings


async def settings(visit: Visit) -> Facts:
    """The rules that hold for a store, and where each was set."""
    rules = await visit.services.hosted.rules(visit.key, visit.params["store"])
    shown_rules = [
        {"name": name, "value": _value(one.value), "origin": one.origin}
        for name, one in rules.items()
    ]
    return {"title": "Settings", "store": await store_facts(visit), "rules": shown_rules}


def _value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return ", ".join(str(one) for one in value) or "none"  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    return str(value)


ENDPOINTS: Final = (
    shown("/stores/{store}/proposals", "read", "proposals.html", proposals),
    action("/stores/{store}/approve", "write", approve),
    action("/stores/{store}/reject", "write", reject),
    shown("/stores/{store}/audit", "read", "audit.html", audit),
    shown("/keys", "admin", "keys.html", keys),
    action("/keys", "admin", create_key),
    action("/keys/revoke", "admin", revoke_key),
    shown("/stores/{store}/settings", "read", "settings.html", settings),
)
