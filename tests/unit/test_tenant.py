"""Which users may have a memory, and which directory is theirs."""

from __future__ import annotations

import hashlib

import pytest

from memoranda.errors import Misuse
from memoranda.tenant import (
    Tenant,
    check_tenant,
    directory_of_store,
    directory_of_tenant,
    is_hashed,
    store_of_directory,
    tenant_of_directory,
)

NAMES = [
    "acme",
    "acme2",
    "Acme",
    "ACME",
    "a",
    "0",
    "acme.",
    "a..b",
    "user@example.com",
    "a_b-c.d:e+f|g@h",
    "default",
    "memstore",
    "Memstore_x",
    "mem_1",
    "con",
    "a" * 128,
]

WRONG = [
    "",
    ".",
    "..",
    ".a",
    "-a",
    "_a",
    "@a",
    "a/b",
    "/a",
    "a\\b",
    "a%41",
    "a b",
    " a",
    "a ",
    "a\n",
    "a\x00",
    "a=b",
    "a~",
    "a,b",
    "a;b",
    "\u00e9",
    "a\u0301",
    "\u0661",
    "\ud800",
    "a" * 129,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_good_name_is_taken_as_it_is(name: str) -> None:
    assert check_tenant(name) == Tenant(name, "default")
    assert check_tenant("bob", name) == Tenant("bob", name)


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_name_is_refused_without_being_repeated(name: str) -> None:
    rule = "1 to 128 of A-Z a-z 0-9 . _ @ : + | -, the first a letter or a digit."
    with pytest.raises(Misuse) as caught:
        check_tenant(name)
    assert str(caught.value) == f"The name of a user is {rule}"
    with pytest.raises(Misuse) as caught:
        check_tenant("bob", name)
    assert str(caught.value) == f"The name of a workspace is {rule}"


@pytest.mark.parametrize("name", [None, 5, b"acme", ["acme"]])
def test_what_is_no_string_is_no_name(name: object) -> None:
    with pytest.raises(Misuse):
        check_tenant(name)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", ["memstore_", "memstore_x", "memstore_01ABC"])
def test_the_names_of_stores_are_kept_for_stores(name: str) -> None:
    with pytest.raises(Misuse) as caught:
        check_tenant(name)
    assert str(caught.value) == "The name of a user can't begin with memstore_."
    with pytest.raises(Misuse) as caught:
        check_tenant("bob", name)
    assert str(caught.value) == "The name of a workspace can't begin with memstore_."


class Liar(str):
    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        return False

    def __str__(self) -> str:
        return "acme"


def test_a_subclass_of_str_counts_for_what_it_holds() -> None:
    with pytest.raises(Misuse):
        check_tenant(Liar("memstore_x"))
    assert type(check_tenant(Liar("bob")).user) is str
    assert check_tenant(Liar("bob")).user == "bob"


# ---------------------------------------------------------------- directories of tenants


@pytest.mark.parametrize(
    ("tenant", "directory"),
    [
        (Tenant("acme"), "acme"),
        (Tenant("acme-corp_2.eu"), "acme-corp_2.eu"),
        (Tenant("Acme"), "=41cme"),
        (Tenant("Z"), "=5a"),
        (Tenant("user@example.com"), "user=40example.com"),
        (Tenant("a:b+c|d"), "a=3ab=2bc=7cd"),
        (Tenant("acme."), "acme."),
        (Tenant("bob", "acme"), "acme=-bob"),
        (Tenant("Bob", "wrkspc_1A"), "wrkspc_1=41=-=42ob"),
        (Tenant("default"), "default"),
        (Tenant("default", "Default"), "=44efault=-default"),
        (Tenant("a" * 128), "a" * 128),
        (Tenant("A" * 36 + "a" * 92), "=41" * 36 + "a" * 92),
        (Tenant("a" * 70, "b" * 128), "b" * 128 + "=-" + "a" * 70),
    ],
)
def test_a_directory_reads_like_its_tenant_and_back(tenant: Tenant, directory: str) -> None:
    assert directory_of_tenant(tenant) == directory
    assert tenant_of_directory(directory) == tenant
    assert not is_hashed(directory)


@pytest.mark.parametrize(
    ("tenant", "names"),
    [
        (Tenant("A" * 36 + "a" * 93), "A" * 36 + "a" * 93),
        (Tenant("A" * 128), "A" * 128),
        (Tenant("a" * 71, "b" * 128), "b" * 128 + "/" + "a" * 71),
        (Tenant("hA" + "0" * 62), "hA" + "0" * 62),
    ],
)
def test_a_long_directory_is_a_hash_that_tells_nothing(tenant: Tenant, names: str) -> None:
    directory = directory_of_tenant(tenant)
    assert directory == "h=" + hashlib.sha256(names.encode()).hexdigest()
    assert is_hashed(directory)
    assert tenant_of_directory(directory) is None


def test_nobody_can_take_a_name_that_reads_like_the_hash_of_another() -> None:
    # "hA..." is written "h=41...": a digest that begins with 41 could be aimed at.
    victims = (f"{'V' * 127}{number}" for number in range(10))
    digests = [hashlib.sha256(victim.encode()).hexdigest() for victim in victims]
    for digest in [*digests, "41" + digests[0][2:]]:
        first = chr(int(digest[:2], 16))
        attacker = f"h{first}{digest[2:]}"
        try:
            tenant = check_tenant(attacker)
        except Misuse:
            continue
        assert directory_of_tenant(tenant) != f"h={digest}"


def test_names_next_to_a_hash_stay_readable() -> None:
    for name in ("hA" + "0" * 61, "hA" + "0" * 63, "hA" + "0" * 61 + "g", "ghA" + "0" * 62):
        assert tenant_of_directory(directory_of_tenant(Tenant(name))) == Tenant(name)


@pytest.mark.parametrize(
    "directory",
    [
        "",
        ".",
        "..",
        ".hidden",
        "Acme",
        "=61cme",
        "=4",
        "=4A",
        "=4acme=",
        "user@example.com",
        "a=2fb",
        "a=00",
        "a=-",
        "=-a",
        "=-",
        "default=-acme",
        "a=-b=-c",
        "memstore_x",
        "memstore_x=-a",
        "a=-memstore_x",
        "a b",
        "a\n",
        "\udcff",
        "h=" + "A" * 64,
        "a" * 201,
    ],
)
def test_a_directory_that_is_nobodys_is_told_so(directory: str) -> None:
    assert tenant_of_directory(directory) is None
    assert not is_hashed(directory)


@pytest.mark.parametrize("directory", ["h=" + "0" * 63, "h=" + "0" * 65, "g=" + "0" * 64, "h=\n"])
def test_what_only_looks_like_a_hash_is_none(directory: str) -> None:
    assert not is_hashed(directory)
    assert is_hashed("h=" + "0123456789abcdef" * 4)


# ---------------------------------------------------------------- directories of stores


@pytest.mark.parametrize(
    ("store_id", "directory"),
    [
        ("memstore_01abc", "memstore_01abc"),
        ("memstore_01AbC", "memstore_01=41b=43"),
        ("memstore_" + "Z" * 64, "memstore_" + "=5a" * 64),
    ],
)
def test_a_store_of_the_api_has_the_directory_of_its_id(store_id: str, directory: str) -> None:
    assert directory_of_store(store_id) == directory
    assert store_of_directory(directory) == store_id
    assert tenant_of_directory(directory) is None


@pytest.mark.parametrize(
    "store_id",
    [
        "",
        "acme",
        "memstore_",
        "memstore_a.b",
        "memstore_a/b",
        "memstore_a\n",
        "memstore_" + "a" * 65,
    ],
)
def test_what_is_no_id_of_a_store_has_no_directory(store_id: str) -> None:
    with pytest.raises(Misuse, match=r"^This is no id of a store\.$"):
        directory_of_store(store_id)


@pytest.mark.parametrize("directory", ["", "acme", "memstore_", "memstore_A", "memstore_=61"])
def test_a_directory_of_no_store_is_told_so(directory: str) -> None:
    assert store_of_directory(directory) is None
