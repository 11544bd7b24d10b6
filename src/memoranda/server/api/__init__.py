"""The Memory Stores API and what belongs to it, one file a resource."""
