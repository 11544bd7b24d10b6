"""What a text holds that should not be kept, or not be believed: detectors, pure and without I/O.

Loaded at the first write, not before: a view needs none of it.
"""
