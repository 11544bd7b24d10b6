"""A person walks through the console in a real browser; what helps people who can't see is looked at
on every page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import (  # type: ignore[import-untyped] # pyright: ignore[reportMissingTypeStubs]
    Axe,
)
from playwright.sync_api import Browser, Page, expect, sync_playwright

from memoranda import Approval, Memory, Policy
from tests.server.live import make_key, new_home, serving

CHROMIUM = os.environ.get("MEMORANDA_CHROMIUM") or shutil.which("chromium")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]

PICTURES = os.environ.get("MEMORANDA_PICTURES")
"""A folder for a picture of every page that is looked at, for people to look at as well."""

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="no Chromium here: install Debian's chromium, or say where one is in MEMORANDA_CHROMIUM",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


class Walk:
    """A page of the console, signed in, with whatever the browser complains of."""

    def __init__(self, page: Page, address: str, url: str) -> None:
        self.page = page
        self.address = address
        self.url = url
        self.complaints: list[str] = []
        self.name = ""
        self._n_pictures = 0
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._told)
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def _told(self, message: Any) -> None:
        if message.type in {"error", "warning"} and "status of 4" not in message.text:
            self.complaints.append(message.text)

    def looked_at(self) -> None:
        """Have axe look at the page as it stands."""
        axe: Any = Axe()
        found = axe.run(self.page)
        assert found.violations_count == 0, found.generate_report()
        if PICTURES is not None:
            self._n_pictures += 1
            name = f"{self.name}-{self._n_pictures:02}.png"
            self.page.screenshot(path=Path(PICTURES) / name, full_page=True)


@pytest.fixture(params=[("light", 1200), ("dark", 400)], ids=["light", "dark-narrow"])
def walk(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Walk]:
    scheme, width = request.param
    home = new_home()
    url = str(home / "memory")
    with Memory.open(url, "ada") as memory:
        memory.write("/memories/people/ada.md", "# Ada\n\nLikes *green* tea.\n")
        memory.write("/memories/people/ada.md", "# Ada\n\nLikes *black* tea.\n")
        memory.write("/memories/<img src=x onerror=alert(1)>.md", "<script>alert(2)</script>\n")
        memory.execute({"command": "view", "path": "/memories/../x"})
    key = make_key(url, role="admin", name="Maria")
    with serving(url) as live:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
        )
        walk = Walk(context.new_page(), live.address, url)
        walk.name = request.node.name
        walk.page.goto(f"{live.address}/console")
        walk.looked_at()
        walk.page.get_by_label("Key").fill(key.credential)
        walk.page.get_by_role("button", name="Sign in").click()
        yield walk
        context.close()
        assert walk.complaints == []
    shutil.rmtree(home)


def test_a_person_finds_compares_restores_corrects_and_erases(walk: Walk) -> None:
    page = walk.page
    walk.looked_at()
    page.keyboard.press("/")
    page.keyboard.type("tea")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    walk.looked_at()
    page.get_by_role("link", name="/memories/people/ada.md").click()
    expect(page.locator(".rendered em")).to_have_text("black")
    walk.looked_at()
    page.get_by_role("link", name="History").last.click()
    walk.looked_at()
    page.locator("tbody a").last.click()
    walk.looked_at()
    page.get_by_role("button", name="Restore this version").click()
    expect(page.get_by_role("status")).to_have_text("Restored.")
    page.locator("tbody a").nth(1).click()  # the one with black tea, which is no head any more
    page.get_by_label("Type redact to go on").fill("redact")
    page.get_by_role("button", name="Redact this version").click()
    expect(page.locator(".warn")).to_contain_text("the content is gone for good")
    walk.looked_at()
    page.get_by_role("link", name="Memories").click()
    walk.looked_at()
    page.get_by_role("link", name="people/").click()
    page.get_by_role("link", name="ada.md").click()
    page.get_by_role("link", name="Edit").click()
    walk.looked_at()
    page.get_by_label("Text").fill("# Ada\n\nDrinks water.\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved as a new version.")
    for tab in ("Waiting", "Audit", "Settings"):
        page.get_by_role("link", name=tab, exact=True).click()
        walk.looked_at()
    page.get_by_role("link", name="Erase this store").click()
    walk.looked_at()
    page.get_by_label("Type ada to go on").fill("ada")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("status")).to_have_text("The store was erased with its history.")
    walk.looked_at()


def test_an_edit_that_was_overtaken_shows_both(walk: Walk) -> None:
    page = walk.page
    page.get_by_role("link", name="ada").click()
    store = page.url.partition("?")[0]
    page.goto(f"{store}/edit?path=/memories/people/ada.md")
    with Memory.open(walk.url, "ada") as memory:
        memory.write("/memories/people/ada.md", "Theirs.\n")
    page.get_by_label("Text").fill("Mine.\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody changed this memory")
    walk.looked_at()
    page.get_by_role("button", name="Save").click()
    with Memory.open(walk.url, "ada") as memory:
        assert memory.read("/memories/people/ada.md").text == "Mine.\n"


def test_what_waits_is_approved_and_rejected(walk: Walk) -> None:
    page = walk.page
    policy = Policy(approval=(Approval(path="/memories/rules/*"),))
    with Memory.open(walk.url, "ada", policy=policy) as memory:
        for name in ("good", "bad"):
            made = memory.execute(
                {
                    "command": "create",
                    "path": f"/memories/rules/{name}.md",
                    "file_text": f"# {name}\n\nRefunds up to 50 EUR need no question.\n",
                }
            )
            assert not made.is_error
    page.get_by_role("link", name="ada").click()
    page.get_by_role("link", name="Waiting", exact=True).click()
    expect(page.get_by_role("button", name="Approve")).to_have_count(2)
    walk.looked_at()
    good = page.locator("section", has_text="/memories/rules/good.md")
    good.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_have_text("Approved: the change is made.")
    walk.looked_at()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("status")).to_have_text("Rejected: nothing was changed.")
    expect(page.locator(".empty")).to_contain_text("Nothing waits")
    walk.looked_at()
    page.get_by_role("link", name="Audit", exact=True).click()
    walk.looked_at()
    with Memory.open(walk.url, "ada") as memory:
        assert memory.read("/memories/rules/good.md").text.startswith("# good")
        assert {str(entry.path) for entry in memory.list("/memories/rules")} == {
            "/memories/rules/good.md"
        }


def test_what_memories_hold_does_nothing_in_a_browser(walk: Walk) -> None:
    page = walk.page
    page.get_by_role("link", name="ada").click()
    page.get_by_role("link", name="<img src=x").click()
    expect(page.locator(".rendered")).to_contain_text("<script>alert(2)</script>")
    page.get_by_role("link", name="As text").click()
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Text")).to_have_value("<script>alert(2)</script>\n")
    walk.looked_at()  # and a dialog would be a complaint


def test_a_key_is_made_and_shown_once(walk: Walk, tmp_path: Path) -> None:
    page = walk.page
    page.get_by_role("link", name="Keys").click()
    walk.looked_at()
    page.get_by_label("Name").fill("ci")
    page.get_by_role("button", name="Make the key").click()
    expect(page.locator(".secret")).to_contain_text("mk_")
    walk.looked_at()
    page.get_by_role("button", name="Revoke ci").click()
    expect(page.get_by_role("status")).to_have_text("The key counts no more.")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
