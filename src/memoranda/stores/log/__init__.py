"""The log: a store's tree of names, its history and its audit in SQLite.

Every local backend stands on it. RAM and SQLite keep their contents here as well; the folder
keeps them here and shows them as plain files. ``docs/formats/log.md`` lays out every table.

    schema.py       tables, format version
    database.py     opening a connection, what SQLite's errors mean to us
    store_log.py    StoreLog: one store's part of a database; Image
    tree.py         names, places and counters inside one transaction
    turn.py         Turn: the commands of one transaction; begins here for whoever writes
    drafts.py       what a command changed, before it becomes events
    heads.py        Heads: where the present contents live (a port)
    sql_heads.py    the one in SQL, of RAM and SQLite
    text.py         Text: a content in slices
    bodies.py       full bodies, deltas, pieces; rebuilding any version
    events.py       writing events; digests and the hash chain
    chain.py        checking the chain, anchors
    gone.py         what the audit says of entries that were dropped or blanked
    records.py      audit entries and uses that wait in memory for the next commit
    packs.py        many such entries in one event
    audit.py        reading the audit
    ids.py          mem_..., memver_..., memstore_...
    replay.py       what a tree of files has to do to follow the log
    lookup.py       reading: find, stat, read, the path of a node
    listing.py      outline and list
    history.py      versions, moments
    time_travel.py  the state right after any event
    search.py       finding text
    redaction.py    blanking a version
    retention.py    letting old history go
    check.py        verify
    log_store.py    LogStore: the Store methods that all local stores share

**How a writer uses it.** Hold the write lock (mutex and whatever else), then

    db.execute("BEGIN IMMEDIATE")
    turn = Turn(log, heads, now_ns)
    versions = turn.run(changes, context)        # once a command; a refusal undoes itself
    turn.finish()                                # heads.store(...) for each content, rows written
    db.execute("COMMIT")                         # the durable point

Until ``finish`` a turn only reads the database: names, counters and events live in memory, so that
a refused command needs no savepoint and leaves nothing behind.

**What the folder does besides.** It passes its own ``Heads``: ``read`` opens the file in the tree
after its image was compared (and may raise a signal of its own, which passes through ``run``
untouched, the command undone), ``store`` writes the temporary file and returns its ``Image``,
which ``finish`` puts into node and event. After COMMIT it follows ``replay.tree_events(log,
after_seq)``, the same call that redoes after a crash. A person's edits become commands of their
own in the same turn: ``turn.adopt`` (text that lies in the tree already), ``turn.run`` with Remove
and Move, ``turn.add_late``. ``turn.set_image`` refreshes an image when only the file's times
changed. ``bodies.content`` rebuilds any head or version from the log alone.
"""
