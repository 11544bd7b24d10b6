"""Stores that break what is promised of redaction."""

from __future__ import annotations

from memoranda import errors
from memoranda.stores.base import (
    Context,
    Version,
)
from tests.testing.broken.registry import store
from tests.testing.dict_store import DictStore


@store("a_redacted_version_keeps_only_that_it_was")
class KeepsTheHash(DictStore):
    def blank(self, version: Version) -> Version:
        return version._replace(path=None, size_bytes=None, content=None)


@store("a_redacted_version_keeps_only_that_it_was")
class ForgetsWhoRedacted(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        return (await super().redact(version_id, context))._replace(redacted_by=None)


@store("redacting_again_changes_nothing")
class RedactsAnew(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        redacted = await super().redact(version_id, context)
        return redacted._replace(redacted_by=context.actor)


@store("the_head_of_a_live_memory_cannot_be_redacted")
class RedactsHeads(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        try:
            return await super().redact(version_id, context)
        except errors.NotRedactable:
            return await self.version(version_id)


@store("the_last_content_of_a_deleted_memory_can_be_redacted")
class ProtectsTheDead(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        version = await self.version(version_id)
        newest = [one for one in self.state().versions if one.memory_id == version.memory_id][-1]
        if newest.id == version_id:
            raise errors.NotRedactable
        return await super().redact(version_id, context)


@store("an_unknown_version_is_unknown")
class RedactsWhatIsNotThere(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        try:
            return await super().redact(version_id, context)
        except errors.UnknownId:
            return self.state().versions[0]


@store("the_other_versions_stay_whole")
class RedactsWhatWasBuiltOnIt(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        at = redacted.seq
        state.versions[at] = state.versions[at]._replace(content=b"")
        self.commit(state)
        return redacted


@store("another_memory_of_equal_content_keeps_it")
class RedactsEqualContents(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        sha256 = (await self.version(version_id)).sha256
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        state.versions = [
            one._replace(content=None) if one.sha256 == sha256 else one for one in state.versions
        ]
        self.commit(state)
        return redacted


class RedactsOnlyTheView(DictStore):
    """The bytes stay where they were; only what is told is blank."""

    async def redact(self, version_id: str, context: Context) -> Version:
        kept = self.state().snapshots
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        state.snapshots = kept
        self.commit(state)
        return redacted


store("redacted_bytes_are_gone_from_storage")(RedactsOnlyTheView)


@store("a_store_goes_on_after_a_redaction")
class CountsRedactionsAsVersions(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        redacted = await super().redact(version_id, context)
        state = self.state().copy()
        state.versions.append(redacted)
        self.commit(state)
        return redacted


@store("a_backend_that_cannot_redact_says_so")
class CannotRedactButSaysItCan(DictStore):
    async def redact(self, version_id: str, context: Context) -> Version:
        raise errors.Unsupported("redaction")
