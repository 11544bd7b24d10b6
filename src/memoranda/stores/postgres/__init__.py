"""The PostgreSQL backend: many machines, many stores (``docs/formats/postgres.md``).

    backend.py      PostgresBackend: making, finding, listing and erasing stores
    store.py        PostgresStore: one store's reads, writes and upkeep
    place.py        which rows are a store's, and its secret
    writing.py      a batch: look, plan, write, and again where somebody was faster
    planning.py     what a batch comes to, in memory; no I/O
    memo.py         what the last writer of a store need not look at
    sealing.py      a plan as events, each with its link in the hash chain
    listing.py      outlines and pages of entries, present and past
    history.py      versions and moments
    upkeep.py       redaction, retention, verify
    port.py         Port: how statements reach a server; its two colours are
    sync_port.py    psycopg's connections and pool
    async_port.py   their twins on an event loop
    faults.py       what the driver's errors mean to us, and which are worth another try
    address.py      a URL as connection parameters
    migrate.py      the tables, by numbered steps in migrations/

Everything but the ports is written once: over the port that blocks a store never suspends, over
the other it is native to the event loop.
"""
