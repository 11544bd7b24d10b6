"""The folder store: plain files that people can read and edit, beside a log that never forgets.

``docs/formats/folder.md`` has the layout on disk and what happens when. The log (SQLite, one a
store) is the durable truth; the tree of files is its image, written after each commit.
"""
