"""The conformance suite for handlers of Claude's memory tool; ``memoranda.testing.tool_suite``."""
