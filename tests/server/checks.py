"""What the Memory Stores API asks for, as data: one entry a check, and who says so.

Tests name what they show with ``@pytest.mark.check("API-07")``; ``test_checks.py`` holds the list
and the tests against each other, both ways. The basis is ``api`` where Anthropic's SDKs or pages fix
the behaviour, ``ours`` where nothing public does and we decided.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

Basis: TypeAlias = Literal["api", "ours"]


class Check(NamedTuple):
    """One behaviour: its stable id, what has to be, and who says so."""

    id: str
    text: str
    basis: Basis


def _numbered(*sentences: tuple[str, Basis]) -> tuple[Check, ...]:
    return tuple(
        Check(f"API-{number:02}", text, basis) for number, (text, basis) in enumerate(sentences, 1)
    )


CHECKS: Final = _numbered(
    ("A new store has an id, empty description and metadata, no archiving, equal times.", "api"),
    ("A name that is missing, empty, too long or holds control characters is refused.", "api"),
    ("Metadata has up to 16 pairs, keys of 64 and values of 512 characters.", "api"),
    ("Metadata is patched: a text sets, null removes, what is absent stays.", "api"),
    ("An empty description clears it and leaves the name.", "api"),
    ("Every store is listed once, and the last page has no cursor.", "api"),
    ("A new memory comes back without its content, with size, hash and version.", "api"),
    ("A new memory comes back with its content in the full view.", "api"),
    ("A memory is retrieved with its content, and without in the basic view.", "api"),
    ("A memory is never made over another one, which is named.", "api"),
    ("A memory is never made above or beneath another one, which is named.", "api"),
    ("Paths that break a rule are refused.", "api"),
    ("Paths differ by case, and may be as long and as deep as the rules allow.", "api"),
    ("Contents have up to 102,400 bytes.", "api"),
    ("Contents are kept exactly, and hashed as they are.", "api"),
    ("A content may be empty.", "api"),
    ("A changed content keeps the id and makes a version.", "api"),
    ("An equal content makes no version.", "api"),
    ("A changed path keeps id and hash and makes a version; the old path is free.", "api"),
    ("A move onto another memory is refused and moves nothing.", "api"),
    ("A precondition that holds lets the change through, a stale one refuses it.", "api"),
    ("A change that is so already succeeds under a stale precondition.", "api"),
    ("An update of nothing is refused.", "api"),
    ("Of many updates with one precondition exactly one wins.", "api"),
    ("Of many creations of one path exactly one wins.", "api"),
    ("A deletion holds the expected hash; a second one finds nothing.", "api"),
    ("The versions of a deleted memory stay, the deletion first and without content.", "api"),
    ("250 memories are three pages of 100, each memory once, in one order.", "api"),
    ("Pages with contents hold 20 at most.", "api"),
    ("What is deleted between two pages shifts nothing.", "ours"),
    ("Deeper memories are rolled up into prefixes.", "api"),
    ("A prefix matches whole segments.", "api"),
    ("A prefix without a slash, other depths and limits, and made-up cursors are refused.", "ours"),
    ("Versions are filtered by memory, operation and time.", "api"),
    ("The head of a live memory is not redacted.", "ours"),
    ("A redacted version has lost content, path, size and hash, and says since when.", "api"),
    ("Archiving is for good and hides a store from the usual list.", "api"),
    ("An archived store can be read, deleted from and redacted in, and not be written.", "ours"),
    ("A deleted store is gone with all that was in it.", "api"),
    ("A wrong key and no key are refused.", "api"),
    ("Old clients are served: their key header, version and query.", "api"),
    ("Either beta name is taken, both together are not.", "api"),
    ("Archiving takes an empty object, and no body at all.", "api"),
    ("A memory is unknown in another store.", "ours"),
    ("A full store takes no more memories, and updates go on.", "ours"),
    ("Every error comes in the envelope, under the id of the request.", "api"),
    ("Writing memories leaves the store's time alone.", "api"),
    ("The SDK's sync engine brings a folder and a store together.", "api"),
)
