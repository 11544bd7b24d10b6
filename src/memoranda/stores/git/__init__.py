"""The git backend: a bare repository for each store (``docs/formats/git.md``).

backend.py      GitBackend: making, finding, listing and erasing stores
store.py        GitStore: one store's reads and writes
place.py        where a store is: what its handles share
writer.py       turns: a batch becomes a pack, the log's ref and then the branch move
adoption.py     what people pushed becomes a batch by ``external``
batch.py        what a batch has to see, and the commits that it becomes
log.py          the chain of commits under ``refs/memoranda/log``: state and history
heads.py        the records of the memories that live now, with totals of directories
listing.py      outlines and pages of entries, present and past
history.py      versions and moments
audit.py        entries of the audit, and their chain
check.py        verify
control.py      the control repository: names, users, the backend's own audit
repository.py   one repository on disk; reads through libgit2
objects.py      git objects, in memory until they are kept
trees.py        trees of trees: looking up, changing, comparing
pack.py         objects as a pack file
refs.py         refs, swapped by git's own lock files
names.py        names that a tree can't hold as they are
"""
