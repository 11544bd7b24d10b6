"""A masked or refused secret is nowhere on storage: not in history, logs or temporary files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from memoranda import Memory, Policy, Redaction
from memoranda.errors import Refused, SecretFound
from memoranda.testing.redaction.invent import expand

SECRETS = [
    expand(template, Random(11))
    for template in ("ghp_<crc:36>", "AKIA<base32:16>", "xoxb-<digit:12>-<digit:13>-<alnum:24>")
]
PATH = "/memories/notes/a.md"


def everything_below(home: Path) -> Iterator[bytes]:
    for folder, _, names in os.walk(home):
        yield folder.encode()
        for name in names:
            yield name.encode()
            yield Path(folder, name).read_bytes()


def use(memory: Memory) -> None:
    """Every way in, each with a secret."""
    one, two, three = SECRETS
    ask = memory.execute
    ask({"command": "create", "path": PATH, "file_text": f"a {one}\n" * 3})
    ask({"command": "str_replace", "path": PATH, "old_str": "[", "new_str": two})
    ask({"command": "insert", "path": PATH, "insert_line": 0, "insert_text": f"{two} {three}"})
    ask({"command": "insert", "path": PATH, "insert_line": 0, "insert_text": three[:20]})
    ask({"command": "str_replace", "path": PATH, "old_str": f"{three[:20]}\n", "new_str": three})
    ask({"command": "create", "path": f"/memories/{one}/b.md", "file_text": "x"})
    ask({"command": "rename", "old_path": PATH, "new_path": f"/memories/{two}"})
    ask({"command": "view", "path": f"/memories/{three}"})
    with suppress(SecretFound):
        memory.write("/memories/c.md", f"{one}\n{two}\n{three}")
    with suppress(SecretFound):
        memory.write("/memories/d.md", "x" * 1000 + " " + two)
    with suppress(Refused):
        memory.move("/memories/before.md", f"/memories/{one}")
    with suppress(Refused):
        memory.read(f"/memories/{two}")
    memory.history(f"/memories/{three}")
    ask({"command": "view", "path": f"/memories/../{one}"})
    memory.undo()


@pytest.mark.parametrize("url", ["memory", "sqlite:///stores.db"])
@pytest.mark.parametrize("mode", ["mask", "refuse"])
def test_no_byte_on_storage_shows_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, mode: str
) -> None:
    monkeypatch.chdir(tmp_path)
    policy = Policy(redaction=Redaction(credential="mask" if mode == "mask" else "refuse"))
    with Memory.open(url, policy=policy) as memory:
        memory.write("/memories/before.md", "x")
        use(memory)
        assert memory.history()
        held = list(everything_below(tmp_path))
    held += everything_below(tmp_path)
    assert len(held) > 4
    for secret in SECRETS:
        # Parts that no other text would have by chance.
        for part in (secret, secret[-16:], secret[10:24]):
            assert not any(part.encode() in data for data in held)
