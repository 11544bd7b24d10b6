"""The PostgreSQL backend: many machines, many stores (``docs/formats/postgres.md``).

    backend.py      PostgresBackend: making, finding, listing and erasing stores
    store.py        PostgresStore: one store's reads, writes and upkeep
    place.py        which rows are a store's, and its secret
    writing.py      a batch: look, plan, write, and again where somebody was faster
    memo.py         what the last writer of a store need not look at
    rows.py         a planned batch as rows (``stores/planning.py`` and ``sealing.py`` make it)
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
