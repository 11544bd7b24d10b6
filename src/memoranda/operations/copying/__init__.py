"""Copying stores from one backend into another: heads, or the whole history."""
