"""Backups: stores with their history as one stream of bytes (``docs/formats/backup.md``)."""
