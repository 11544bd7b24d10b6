"""Adapters: a memory as a tool of one SDK, one SDK a file, each imported when it is used.

An adapter passes the raw input of a command on and gives the answer the shape its SDK wants. It
knows no paths, no texts and no storage.
"""
