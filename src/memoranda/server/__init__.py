"""The server: the Memory Stores API, a tool endpoint, keys; one ASGI application."""
