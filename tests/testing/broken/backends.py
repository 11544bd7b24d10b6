"""Stores that break what is promised of backends."""

from __future__ import annotations

from collections.abc import Mapping

from memoranda import errors
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Context,
    Remove,
    Store,
    StoreInfo,
    StorePage,
    Version,
)
from tests.testing.broken.registry import backend, batch, store
from tests.testing.dict_store import Batch, DictBackend, DictStore, Shelf, State


@backend("a_user_has_a_store_from_the_first_change_on")
class MakesStoresOnOpening(DictBackend):
    async def for_user(self, user: str, workspace: str = "default") -> Store:
        store = await super().for_user(user, workspace)
        assert isinstance(store, DictStore)
        self.make_shelf(store)
        return store


@backend("all_who_ask_for_a_user_get_the_same_store")
class MakesAStoreForEachHandle(DictBackend):
    def of_user(self, user: str, workspace: str) -> Shelf | None:
        return None

    async def for_user(self, user: str, workspace: str = "default") -> Store:
        own: list[Shelf] = []
        store = self.store_class(self, lambda: own[0] if own else None)
        self.owners[store] = (user, workspace)
        own.append(self.make_shelf(store))
        return store


class LeaksBetweenUsers(DictBackend):
    """Finds a user's store by a careless comparison."""

    def same(self, known: str, user: str) -> bool:
        raise NotImplementedError

    def of_user(self, user: str, workspace: str) -> Shelf | None:
        for shelf in self.disk.shelves.values():
            if shelf.info.user is not None and self.same(shelf.info.user, user):
                return shelf
        return None


@backend("users_never_see_each_other")
class FoldsTheCaseOfUsers(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return known.casefold() == user.casefold()


@backend("users_never_see_each_other")
class ComparesUsersByPrefix(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return user.startswith(known)


@backend("the_same_user_of_two_workspaces_is_two")
class IgnoresWorkspaces(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return known == user


@backend("the_same_user_of_two_workspaces_is_two")
class OpensAcrossWorkspaces(DictBackend):
    def of_id(self, store_id: str, workspace: str) -> Shelf:
        shelf = self.disk.shelves.get(store_id)
        if shelf is None:
            raise errors.UnknownId("store")
        return shelf


@backend("a_bad_user_is_misuse_and_leaves_nothing")
class TakesAnyUser(DictBackend):
    async def for_user(self, user: str, workspace: str = "default") -> Store:
        return await super().for_user(user.strip() or "x", workspace)


@store("ids_of_another_store_are_unknown")
class FindsVersionsOfOthers(DictStore):
    async def version(self, version_id: str) -> Version:
        for shelf in self.disk.shelves.values():
            for version in shelf.state.versions:
                if version.id == version_id:
                    return version
        raise errors.UnknownId("version")


@backend("stores_are_written_at_once_without_mixing")
class MixesStores(LeaksBetweenUsers):
    def same(self, known: str, user: str) -> bool:
        return known[:4] == user[:4]


class AltersInfos(DictBackend):
    """A backend whose words on a store are altered by ``alter``."""

    def alter(self, info: StoreInfo) -> StoreInfo:
        raise NotImplementedError

    async def info(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return self.alter(await super().info(store_id, workspace))


@backend("a_store_is_made_with_what_is_said_of_it")
class LosesDescriptions(AltersInfos):
    def alter(self, info: StoreInfo) -> StoreInfo:
        return info._replace(description="")


@backend("two_stores_may_have_one_name")
class TakesTheNameForTheId(DictBackend):
    async def create(
        self,
        name: str,
        *,
        workspace: str = "default",
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        for shelf in self.disk.shelves.values():
            if shelf.info.name == name:
                return shelf.info
        return await super().create(
            name, workspace=workspace, description=description, metadata=metadata
        )


@backend("a_store_that_is_not_there_is_unknown")
class OpensWhatIsNotThere(DictBackend):
    async def open(self, store_id: str, workspace: str = "default") -> Store:
        try:
            return await super().open(store_id, workspace)
        except errors.UnknownId:
            return self.store_class(self, lambda: None)


@backend("a_store_that_is_not_there_is_unknown")
class ErasesWhatIsNotThere(DictBackend):
    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        self.disk.shelves.pop(store_id, None)


@backend("stores_are_listed_by_pages_newest_first")
class ListsStoresOldestFirst(DictBackend):
    async def list(
        self,
        workspace: str = "default",
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        page = await super().list(
            workspace, after=after, limit=limit, include_archived=include_archived
        )
        return page._replace(stores=page.stores[::-1])


@backend("archived_stores_can_be_left_out_of_the_list")
class ListsTheArchivedAlways(DictBackend):
    async def list(
        self,
        workspace: str = "default",
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        return await super().list(workspace, after=after, limit=limit)


@backend("a_stores_particulars_can_be_changed")
class MergesMetadata(DictBackend):
    def renew(self, shelf: Shelf, **changed: object) -> StoreInfo:
        metadata = changed.get("metadata")
        if isinstance(metadata, dict):
            changed["metadata"] = {**shelf.info.metadata, **metadata}
        return super().renew(shelf, **changed)


@backend("a_stores_particulars_can_be_changed")
class RenewsTheTimeOfNothing(DictBackend):
    def renew(self, shelf: Shelf, **changed: object) -> StoreInfo:
        shelf.info = super().renew(shelf, **changed)._replace(updated_at_ns=self.disk.now())
        return shelf.info


@batch("an_archived_store_can_be_read_and_emptied_but_not_written")
class WritesTheArchived(Batch):
    def forbid_when_archived(self, path: MemoryPath) -> None:
        return


@batch("an_archived_store_can_be_read_and_emptied_but_not_written")
class EmptiesNothingArchived(Batch):
    def remove(self, change: Remove) -> None:
        self.forbid_when_archived(change.path)
        super().remove(change)


@backend("an_archived_store_can_be_read_and_emptied_but_not_written")
class ArchivesAgainAndAgain(DictBackend):
    async def archive(self, store_id: str, workspace: str = "default") -> StoreInfo:
        return self.renew(self.of_id(store_id, workspace), archived_at_ns=self.disk.now())


class HidesInsteadOfErasing(DictBackend):
    """An erased store is only out of sight."""

    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        shelf = self.of_id(store_id, workspace)
        await super().erase(store_id, context, workspace)
        shelf.info = shelf.info._replace(workspace="erased", user=None)
        self.disk.shelves[f"erased {store_id}"] = shelf


backend("an_erased_store_is_gone_from_everywhere")(HidesInsteadOfErasing)


@backend("what_waits_for_a_person_is_erased_with_its_store")
class ForgetsWhatWaits(DictBackend):
    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        self.of_id(store_id, workspace)
        del self.disk.shelves[store_id]


@backend("an_erased_user_begins_anew")
class ErasesOnlyTheMemories(DictBackend):
    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        self.of_id(store_id, workspace).state = State()


@backend("every_kind_of_work_fits_a_store_without_a_user")
class OpensStoresWithoutAUserForReading(DictBackend):
    async def open(self, store_id: str, workspace: str = "default") -> Store:
        store = await super().open(store_id, workspace)
        if self.of_id(store_id, workspace).info.user is None:
            self.renew(self.of_id(store_id, workspace), archived_at_ns=1)
        return store
