"""Tenants and their directories: there, back, and never two in one place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import Misuse
from memoranda.tenant import (
    STORE_PREFIX,
    Tenant,
    check_tenant,
    directory_of_store,
    directory_of_tenant,
    is_hashed,
    store_of_directory,
    tenant_of_directory,
)

FIRST = "AZaz09hbH"
REST = FIRST + "._@:+|-=3d"

names = st.one_of(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@:+|-]{0,127}", fullmatch=True),
    st.from_regex(r"h[A-Z][0-9a-f]{62}", fullmatch=True),
    st.sampled_from(["default", "acme", "acme2", "ACME", "A" * 128, "a" * 128, "hA" + "0" * 62]),
).filter(lambda name: not name.startswith(STORE_PREFIX))

tenants = st.builds(Tenant, names, st.one_of(st.just("default"), names))

stores = st.from_regex(r"memstore_[A-Za-z0-9]{1,64}", fullmatch=True)


@given(tenants)
def test_a_directory_leads_back_to_its_tenant_unless_it_is_hashed(tenant: Tenant) -> None:
    directory = directory_of_tenant(check_tenant(*tenant))
    assert tenant_of_directory(directory) == (None if is_hashed(directory) else tenant)


@given(tenants)
def test_a_directory_is_short_lower_case_and_plain_for_every_host(tenant: Tenant) -> None:
    directory = directory_of_tenant(tenant)
    assert 1 <= len(directory) <= 200
    assert directory == directory.lower() == directory.casefold()
    assert set(directory) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.=")
    assert directory[0] not in ".-"
    assert not directory.startswith(STORE_PREFIX)


@given(tenants, tenants)
def test_two_tenants_never_share_a_directory(one: Tenant, two: Tenant) -> None:
    first, second = directory_of_tenant(one), directory_of_tenant(two)
    assert (first.casefold() == second.casefold()) is (one == two)


@given(names, names, names)
def test_a_workspace_never_meets_the_default_one(user: str, workspace: str, other: str) -> None:
    if workspace != "default":
        inside = directory_of_tenant(Tenant(user, workspace))
        assert inside != directory_of_tenant(Tenant(other))
        assert inside != directory_of_tenant(Tenant(f"{workspace}-{user}"[:128]))


@given(st.one_of(st.text(), st.text(REST, max_size=70)))
def test_any_name_found_on_a_disk_is_one_tenants_or_one_stores_or_nobodys(found: str) -> None:
    tenant, store = tenant_of_directory(found), store_of_directory(found)
    assert tenant is None or directory_of_tenant(tenant) == found
    assert store is None or directory_of_store(store) == found
    assert tenant is None or store is None


@given(stores, tenants)
def test_a_store_s_directory_leads_back_and_is_no_tenants(store_id: str, tenant: Tenant) -> None:
    directory = directory_of_store(store_id)
    assert store_of_directory(directory) == store_id
    assert tenant_of_directory(directory) is None
    assert directory != directory_of_tenant(tenant)


@given(st.text())
def test_a_name_is_taken_exactly_by_the_rule(name: str) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    plain = letters + letters.upper() + "0123456789"
    good = (
        1 <= len(name) <= 128
        and name[0] in plain
        and set(name) <= set(plain + "._@:+|-")
        and not name.startswith("memstore_")
    )
    try:
        check_tenant(name)
    except Misuse:
        assert not good
    else:
        assert good
