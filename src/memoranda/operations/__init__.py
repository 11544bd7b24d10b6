"""What programs and people do with a memory beyond Claude's six commands, over any store."""
