"""What is counted for ``/metrics``: by method, route and status; never by key, store or path."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """One server's numbers."""

    media_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter(
            "memoranda_requests", "Requests that were answered.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "memoranda_request_seconds",
            "How long an answer took.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._numbers: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.in_flight = Gauge(
            "memoranda_requests_in_flight", "Requests being answered.", registry=self._registry
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer. ``route`` is a path of the route table, not what was asked for."""
        numbers = self._numbers.get((method, route, status))
        if numbers is None:  # as many as routes have answers: to look for labels takes longer
            numbers = self._numbers[method, route, status] = (
                self._requests.labels(method, route, str(status)),
                self._seconds.labels(method, route),
            )
        numbers[0].inc()
        numbers[1].observe(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)
