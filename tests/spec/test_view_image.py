"""Which files a view shows as a picture."""

from __future__ import annotations

import base64

import pytest

from memoranda.reply import ToolResult
from tests.spec.handler import Handler, Settings, content_of, failed

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9")


def picture_of(path: str, media_type: str, data: bytes) -> ToolResult:
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": media_type, "data": encoded}
    return ToolResult(
        [
            {"type": "text", "text": f"Here's the image {path}:"},
            {"type": "image", "source": source},
        ],
        False,
    )


@pytest.mark.spec("IMAGE-01", "IMAGE-02", "IMAGE-08")
@pytest.mark.parametrize(
    ("name", "media_type", "data"),
    [
        ("a.png", "image/png", PNG),
        ("a.jpg", "image/jpeg", JPEG),
        ("a.jpeg", "image/jpeg", JPEG),
        ("a.PNG", "image/png", PNG),
        ("a.b.JpEg", "image/jpeg", JPEG),
    ],
)
def test_a_picture_is_an_image_block_behind_its_path(
    ask: Handler, name: str, media_type: str, data: bytes
) -> None:
    path = f"/memories/{name}"
    ask.put(path, data)
    assert ask("view", path=path) == picture_of(path, media_type, data)
    assert ask("view", path=path, view_range=[7, 3]) == picture_of(path, media_type, data)


@pytest.mark.spec("IMAGE-01")
@pytest.mark.parametrize("size_bytes", [300_000, 1_500_000])
def test_a_large_picture_is_whole(ask: Handler, size_bytes: int) -> None:
    data = PNG + bytes(size_bytes)
    ask.put("/memories/a.png", data)
    assert ask("view", path="/memories/a.png") == picture_of("/memories/a.png", "image/png", data)


@pytest.mark.spec("IMAGE-03")
def test_the_limit_counts_what_the_api_counts(ask: Handler) -> None:
    largest = PNG + b"\xff" * (5 * 1024 * 1024 // 4 * 3 - len(PNG))
    ask.put("/memories/a.png", largest)
    assert ask("view", path="/memories/a.png") == picture_of(
        "/memories/a.png", "image/png", largest
    )
    ask.put("/memories/a.png", largest + b"\xff")
    assert ask("view", path="/memories/a.png") == failed(
        "Error: The file /memories/a.png is not UTF-8 text and cannot be shown."
    )


@pytest.mark.spec("IMAGE-03", "IMAGE-04")
def test_the_limit_is_a_setting(ask_with: Settings) -> None:
    encoded_bytes = len(base64.b64encode(PNG))
    ask = ask_with(image_bytes=encoded_bytes)
    ask.put("/memories/a.png", PNG)
    assert ask("view", path="/memories/a.png") == picture_of("/memories/a.png", "image/png", PNG)
    smaller = ask_with(image_bytes=encoded_bytes - 1)
    assert smaller("view", path="/memories/a.png") == failed(
        "Error: The file /memories/a.png is not UTF-8 text and cannot be shown."
    )


@pytest.mark.spec("IMAGE-05", "IMAGE-07")
@pytest.mark.parametrize("name", ["x.png", "x.jpg", "x.jpeg"])
@pytest.mark.parametrize("text", ["just text", "", "GIF89a"])
def test_text_named_like_a_picture_is_shown_as_text(ask: Handler, name: str, text: str) -> None:
    path = f"/memories/{name}"
    ask.make(path, text)
    assert ask("view", path=path) == content_of(path, f"     1\t{text}")


@pytest.mark.spec("IMAGE-06", "IMAGE-07")
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.png", JPEG),
        ("x.jpg", PNG),
        ("x.png", PNG[:7]),
        ("x.png", b"x" + PNG),
        ("x.jpeg", JPEG[:2]),
        ("x.gif", b"GIF89a\xff"),
        ("x.txt", PNG),
        ("png", PNG),
        ("xpng", PNG),
        ("x.png/y", PNG),
        ("x.png.bak", PNG),
    ],
)
def test_other_bytes_are_no_picture_and_no_text(ask: Handler, name: str, data: bytes) -> None:
    path = f"/memories/{name}"
    ask.put(path, data)
    assert ask("view", path=path) == failed(
        f"Error: The file {path} is not UTF-8 text and cannot be shown."
    )
