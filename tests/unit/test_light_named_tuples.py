"""Named tuples of our own making are what the standard ones are."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple as StandardNamedTuple

import pytest

from memoranda.light_named_tuples import NamedTuple


class Light(NamedTuple):
    """A document."""

    first: int
    second: str = "two"
    third: float = 3.0

    @property
    def both(self) -> str:
        """The first two."""
        return f"{self.first}{self.second}"

    @classmethod
    def of(cls, first: int) -> Light:
        """One with defaults."""
        return cls(first)


class Standard(StandardNamedTuple):
    """A document."""

    first: int
    second: str = "two"
    third: float = 3.0


class Below(Light):
    """Has what the one above has, and an attribute that takes no part."""

    extra: str | None = None


def test_fields_defaults_names_and_documents_are_those_of_the_standard() -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__"):
        assert getattr(Light, name) == getattr(Standard, name)
    assert Light.__mro__[1:] == Standard.__mro__[1:] == (tuple, object)
    assert Light.__qualname__ == "Light"
    assert repr(Light(1)) == repr(Standard(1)).replace("Standard", "Light")


def test_objects_compare_unpack_and_change_as_tuples_do() -> None:
    one = Light(1, third=4.0)
    assert one == (1, "two", 4.0) == Standard(1, third=4.0)
    assert (one.first, one.second, one.third) == tuple(one)
    assert one._replace(second="x") == (1, "x", 4.0)
    assert one._asdict() == {"first": 1, "second": "two", "third": 4.0}
    with pytest.raises(AttributeError):
        setattr(one, "first", 2)  # noqa: B010 - a checker would refuse it as well
    with pytest.raises(TypeError):
        Light()  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_methods_and_properties_come_with_the_class() -> None:
    assert Light(1).both == "1two"
    assert Light.of(7) == (7, "two", 3.0)


def test_objects_can_be_copied_and_pickled() -> None:
    for one in (Light(1), Below(2)):
        assert pickle.loads(pickle.dumps(one)) == one
        assert type(copy.deepcopy(one)) is type(one)


def test_a_class_below_may_have_attributes_of_its_own() -> None:
    below = Below(1)
    below.extra = "more"
    assert (below, below.both, below.extra) == ((1, "two", 3.0), "1two", "more")


class Counted(NamedTuple):
    number: int
    more: int = 1


class CountedBelow(Counted):
    pass


def test_what_is_made_first_by_a_class_below_serves_both() -> None:
    assert type(CountedBelow(1)) is CountedBelow
    assert type(Counted(2, more=3)) is Counted
    assert (CountedBelow(1), Counted(2, more=3)) == ((1, 1), (2, 3))


@pytest.mark.parametrize("named", [Light, Standard])
def test_what_does_not_fit_is_refused(named: type[Light | Standard]) -> None:
    with pytest.raises(TypeError, match="first"):
        named()  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="fourth"):
        named(1, fourth=4)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="Expected 3 arguments, got 1"):
        named._make([1])
    with pytest.raises(ValueError, match="fourth"):
        named(1)._replace(fourth=4)  # type: ignore[call-arg]
