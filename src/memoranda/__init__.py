"""Memoranda keeps an AI agent's memory: exact, safe, durable."""
