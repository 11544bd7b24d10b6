"""``memoranda redaction-report``: how well secrets are found, in figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoranda.cli.shared.options import AsJson
from memoranda.cli.shared.output import note, print_json, table

if TYPE_CHECKING:
    from memoranda.detect.finding import Finding


def redaction_report(
    kingfisher: Annotated[
        bool, typer.Option("--kingfisher", help="Ask the scanner of the extra 'secrets' as well.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print how well secrets are found.

    Invents secrets of many formats, and texts that only look like some, and reads the documentation of the packages installed here as text without secrets.
    Precision and recall are those of the defaults; nothing of a memory is read.

    Example: memoranda redaction-report
    """
    from memoranda.policies.redaction import Redaction
    from memoranda.policies.redactor import Redactor

    figures = _figures(Redactor(Redaction(kingfisher=kingfisher)).findings)
    if as_json:
        print_json(figures)
        return
    table(
        [
            ["credentials, known formats", _found(figures["credentials"]), "found whole"],
            ["credentials, other formats", _found(figures["other_formats"]), "found whole"],
            ["look-alikes", f"{figures['look_alikes']['alarms']:,}", _in(figures["look_alikes"])],
            [
                "documentation",
                f"{figures['documentation']['alarms']:,}",
                _in(figures["documentation"]),
            ],
            ["recall", f"{figures['recall']:.3f}", "of known formats"],
            ["precision", f"{figures['precision']:.3f}", "of all that was found"],
        ]
    )
    missed = [*figures["credentials"]["missed"], *figures["other_formats"]["missed"]]
    if missed:
        note(f"Missed: {', '.join(missed)}.")


def _figures(find: Callable[[str], Iterable[Finding]]) -> dict[str, Any]:
    from memoranda.testing.redaction import score

    known = score.score_secrets(find, score.CREDENTIALS)
    other = score.score_secrets(find, score.UNRULED)
    alike = score.score_lookalikes(find)
    documentation = score.score_benign(find, score.installed_documentation())
    false = known.false + other.false + len(alike.alarms) + len(documentation.alarms)
    every = score.Score(known.wanted + other.wanted, known.found + other.found, false)
    return {
        "credentials": {"found": known.found, "of": known.wanted, "missed": known.missed},
        "other_formats": {"found": other.found, "of": other.wanted, "missed": other.missed},
        "look_alikes": {
            "alarms": len(alike.alarms),
            "texts": alike.texts,
            "characters": alike.chars,
        },
        "documentation": {
            "alarms": len(documentation.alarms),
            "texts": documentation.texts,
            "characters": documentation.chars,
        },
        "recall": known.recall,
        "precision": every.precision,
    }


def _found(part: dict[str, Any]) -> str:
    return f"{part['found']} of {part['of']}"


def _in(part: dict[str, Any]) -> str:
    return f"false alarms in {part['texts']:,} texts, {part['characters']:,} characters"
