"""Stores keep one owner's memories and their history; backends hold many stores."""
