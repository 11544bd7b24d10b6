"""Whoever follows the notes of a capped view gets the whole file, each line once."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.command import View
from memoranda.drive import run_now
from memoranda.path import parse_path
from memoranda.stores.base import Context, Put
from memoranda.tool import Tool
from tests.testing.dict_store import DictBackend, Disk

PATH = parse_path("/memories/n.txt")
HEADER = f"Here's the content of {PATH} with line numbers:\n"
CONTINUE = re.compile(
    r"\[Truncated: lines \d+-\d+ of \d+ shown\. Continue with view_range \[(\d+), (\d+)\]\.\]\Z"
)
CUT = re.compile(r"\[Line (\d+) truncated: (\d+) of (\d+) characters shown\.\]")

LINES = st.lists(
    st.text(alphabet="ab\r\u00e9\U0001f600", max_size=12)
    | st.integers(0, 60).map(lambda width: "x" * width),
    max_size=40,
)


@settings(deadline=None)
@given(LINES, st.booleans(), st.integers(1, 50))
def test_the_notes_lead_through_the_whole_file(lines: list[str], ended: bool, cap: int) -> None:
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    # What the file's lines are, told without the product: the last LF begins none.
    expected = text.removesuffix("\n").split("\n")
    store = run_now(DictBackend(Disk()).for_user("acme"))
    run_now(store.apply([Put(PATH, text.encode())], Context()))
    tool = Tool(store, view_cap_chars=cap)

    seen: list[str] = []
    view_range: tuple[int, int] | None = None
    while True:
        content = run_now(tool.run(View(PATH, view_range), Context())).content
        assert isinstance(content, str)
        shown, _, notes = content.removeprefix(HEADER).partition("\n\n[")
        for numbered in shown.split("\n"):
            number, tab, line = numbered.partition("\t")
            assert (number, tab) == (f"{len(seen) + 1:6}", "\t")
            seen.append(line)
        cut = CUT.match("[" + notes)
        if cut:
            whole = expected[len(seen) - 1]
            assert cut.groups() == (str(len(seen)), str(cap), str(len(whole)))
            assert seen[-1] == whole[:cap]
            seen[-1] = whole
        following = CONTINUE.search("[" + notes)
        if not following:
            break
        view_range = int(following[1]), int(following[2])
        assert view_range == (len(seen) + 1, len(expected))
    assert seen == expected
