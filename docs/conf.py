"""How the pages of this folder become a site: ``make docs``.

A forge shows the same pages as they lie here, so they are plain Markdown and no page needs the site.
Nothing is fetched, neither when the site is made nor when it is read: fonts are the reader's own,
the search runs in the browser over an index that lies beside the pages.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sphinx.ext.autodoc.mock import MockFinder

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

project = "Memoranda"
author = "The Memoranda authors"
# The version stands in pyproject.toml and nowhere else.
release = version = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"][
    "version"
]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
# Records of choices are for those who change the code; they would fill the search of all others.
exclude_patterns = ["decisions", "examples"]

# ---------------------------------------------------------------- Markdown

# Anchors as forges make them, so that a link works in both places.
myst_heading_anchors = 4

LINK: Final = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def keep_inside(app: Sphinx, page: str, source: list[str]) -> None:
    """Show a link to a file of the repository that is no page of the site as its text."""
    folder = Path(app.env.doc2path(page)).parent

    def shown(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        outside = not target.is_relative_to(HERE) or (
            target.relative_to(HERE).parts[0] in exclude_patterns
        )
        return link[1] if outside and target.exists() else link[0]

    source[0] = LINK.sub(shown, source[0])


# ---------------------------------------------------------------- the reference from docstrings

# What we say of our own classes needs no SDK, and they take longer to load than all the rest. Not
# autodoc_mock_imports: that still loads them, to look for comments in their source.
sys.meta_path.insert(
    0,
    MockFinder(
        [
            "agents",
            "anthropic",
            "claude_agent_sdk",
            "deepagents",
            "langchain",
            "langchain_core",
            "mcp",
            "mcp_types",
            "pydantic_ai",
        ]
    ),
)
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
autodoc_preserve_defaults = True
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "exclude-members": "__init__, __new__",
}
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries = False

FIELD: Final = re.compile(r"Alias for field number \d+")


def lay_out(
    _app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]
) -> None:
    """Set indented lines of a docstring as code, and drop what says nothing about a field."""
    if len(lines) <= 2 and FIELD.fullmatch(lines[0] if lines else ""):
        lines.clear()
    laid_out: list[str] = []
    in_code = False
    for line in lines:
        if line.strip():
            indented = line.startswith("    ")
            if indented and not in_code and laid_out and not laid_out[-1]:
                laid_out += ["::", ""]
            in_code = indented
        laid_out.append(line)
    lines[:] = laid_out


# ---------------------------------------------------------------- the look

html_theme = "furo"
html_title = f"Memoranda {release}"
html_static_path = ["_static"]
html_css_files = ["memoranda.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}


def setup(app: Sphinx) -> None:
    """Take part in reading the pages and the docstrings."""
    app.connect("source-read", keep_inside)
    app.connect("autodoc-process-docstring", lay_out)
