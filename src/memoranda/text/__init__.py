"""Pure text work: bytes in, bytes or lines out. No paths, no storage, no words for Claude."""
