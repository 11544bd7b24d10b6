"""Rules as layers: round the commands where the rule asks what Claude said, round the store where
it asks what would be stored. ``stack.py`` has their order."""
