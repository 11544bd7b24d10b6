"""The tables and functions, brought up to date by numbered steps; safe to start many times at once.

    python -m memoranda.stores.postgres.migrate postgresql://owner@host/database --role app

Each step is one file in ``migrations/`` and one transaction under an advisory lock that ends with
it, so this works through a pooler too. Steps only add: a process of the release before goes on
working while they run, so a new release may be rolled out machine by machine.
"""

from __future__ import annotations

import argparse
import sys
from importlib import resources
from typing import TYPE_CHECKING, Final

from memoranda.errors import MemorandaError, Misuse, Unavailable
from memoranda.stores.postgres import address
from memoranda.stores.postgres.faults import translated

if TYPE_CHECKING:
    import psycopg

_LOCK: Final = 0x4D656D6F  # "Memo"
_BEGIN: Final = (
    "CREATE SCHEMA IF NOT EXISTS memoranda;"
    " CREATE TABLE IF NOT EXISTS memoranda.migration("
    "number integer PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now())"
)
_TABLES: Final = ("store", "store_audit", "state", "memory", "event", "content", "record")


def migrate(url: str, role: str | None = None) -> int:
    """Bring a database up to date; gives how many steps that took, 0 if it was.

    ``role`` is the one that applications connect as: it gets what they need and no more. It must
    be neither superuser nor owner, or the second wall between stores would not hold it.
    Raises ``Unavailable`` where the database can't be reached or this role may not, ``Misuse`` for
    a ``role`` that the second wall would not hold or a database that is not in UTF-8.
    """
    conninfo = address.parse(url).conninfo
    import psycopg
    from psycopg import sql

    try:
        with psycopg.connect(conninfo, prepare_threshold=None) as connection:
            done = _steps(connection)
            if role is not None:
                # Two grants at once on one table are an error to PostgreSQL.
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                _check_role(connection, role)
                for statement in (
                    "GRANT USAGE ON SCHEMA memoranda TO {}",
                    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memoranda TO {}",
                    "GRANT SELECT ON memoranda.migration TO {}",
                ):
                    connection.execute(sql.SQL(statement).format(sql.Identifier(role)))
                for table in _TABLES:
                    connection.execute(
                        sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {}").format(
                            sql.Identifier("memoranda", table), sql.Identifier(role)
                        )
                    )
            return done
    except psycopg.Error as error:
        raise translated(error, is_broken=False) from error


def steps() -> list[tuple[int, str, str]]:
    """Every step: number, name and statements."""
    found: list[tuple[int, str, str]] = []
    for file in resources.files("memoranda.stores.postgres").joinpath("migrations").iterdir():
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append((int(number), name, file.read_text(encoding="utf-8")))
    return sorted(found)


def _steps(connection: psycopg.Connection) -> int:
    wanted = steps()
    done = 0
    for number, name, statements in wanted:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            ((encoding,),) = connection.execute("SHOW server_encoding").fetchall()
            if encoding != "UTF8":
                raise Misuse("The database has to be in UTF-8: CREATE DATABASE … ENCODING 'UTF8'.")
            ((there,),) = connection.execute(
                "SELECT to_regclass('memoranda.migration') IS NOT NULL"
            ).fetchall()
            if not there:
                connection.execute(_BEGIN)
            newest = connection.execute("SELECT max(number) FROM memoranda.migration").fetchone()
            at = 0 if newest is None else newest[0] or 0
            if at > wanted[-1][0]:
                raise Unavailable("A newer Memoranda has set this database up; use that one.")
            if at < number:
                connection.execute(statements.encode())
                connection.execute(
                    "INSERT INTO memoranda.migration(number, name) VALUES (%s, %s)", (number, name)
                )
                done += 1
    return done


def _check_role(connection: psycopg.Connection, role: str) -> None:
    row = connection.execute(
        "SELECT r.rolsuper OR r.rolbypassrls OR EXISTS (SELECT FROM pg_namespace n"
        "  WHERE n.nspname = 'memoranda' AND pg_has_role(r.rolname, n.nspowner, 'MEMBER'))"
        " FROM pg_roles r WHERE r.rolname = %s",
        (role,),
    ).fetchone()
    if row is None:
        raise Misuse("There is no such role: CREATE ROLE … LOGIN first.")
    if row[0]:
        raise Misuse(
            "Applications need a role of their own that is neither superuser nor owner of the "
            "schema, or row-level security would not hold them."
        )


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 when the database is up to date."""
    parser = argparse.ArgumentParser(prog="python -m memoranda.stores.postgres.migrate")
    parser.add_argument("url", help="postgresql://owner@host/database")
    parser.add_argument("--role", help="the role that applications connect as")
    said = parser.parse_args(arguments)
    try:
        done = migrate(said.url, said.role)
    except MemorandaError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{done} steps done; the database is up to date.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
