"""The console: pages for the people who answer for what agents remember."""
