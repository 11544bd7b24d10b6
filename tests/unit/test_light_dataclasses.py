"""Dataclasses that cost no start-up time."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import pprint
from typing import ClassVar

import pytest

from memoranda.light_dataclasses import dataclass, field_names, replace


@dataclass(frozen=True, slots=True)
class Point:
    kind: ClassVar[str] = "point"
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    first: str
    checked: bool = False

    def __post_init__(self) -> None:
        if not self.first:
            raise ValueError


@dataclass(slots=True)
class Counter:
    value: int = 0


@dataclass(slots=True, eq=False)
class Thing:
    value: int = 0


def test_an_object_takes_its_fields_by_place_by_name_and_by_default() -> None:
    assert [(p.x, p.y) for p in (Point(1), Point(1, 2), Point(y=2, x=1))] == [
        (1, 0),
        (1, 2),
        (1, 2),
    ]


def test_a_field_too_few_too_many_or_unknown_is_a_type_error() -> None:
    for arguments, names in (((), {}), ((1, 2, 3), {}), ((1,), {"z": 1})):
        with pytest.raises(TypeError):
            Point(*arguments, **names)


def test_fields_that_go_by_name_only_are_refused_by_place() -> None:
    assert Named(first="a").first == "a"
    with pytest.raises(TypeError):
        Named("a")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_objects_are_equal_when_class_and_fields_are() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert Point(1, 2) != Point(1, 3)
    others: tuple[object, ...] = (Size(1, 2), (1, 2))
    assert Point(1, 2) not in others


def test_a_frozen_object_can_not_be_changed() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x  # pyright: ignore[reportAttributeAccessIssue]
    assert point == Point(1)


def test_an_object_that_is_not_frozen_changes_and_has_no_hash() -> None:
    counter = Counter()
    counter.value = 5
    assert counter == Counter(5)
    with pytest.raises(TypeError):
        hash(counter)
    del counter.value
    with pytest.raises(AttributeError):
        _ = counter.value


def test_an_object_without_equality_is_equal_to_itself_only() -> None:
    thing = Thing()
    assert thing == thing
    assert thing != Thing()
    assert len({thing, Thing()}) == 2


def test_the_repr_names_the_fields() -> None:
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"
    assert pprint.pformat(Point(1, 2)) == "Point(x=1, y=2)"


def test_what_comes_after_init_is_run_for_every_object() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^$"):
            Named(first="")


def test_another_object_with_some_fields_changed() -> None:
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    with pytest.raises(TypeError):
        replace(Point(1, 2), z=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"^$"):
        replace(Named(first="a"), first="")


def test_dataclasses_takes_them_for_its_own() -> None:
    assert dataclasses.is_dataclass(Point)
    assert [field.name for field in dataclasses.fields(Point)] == ["x", "y"]
    assert dataclasses.replace(Point(1, 2), y=3) == Point(1, 3)
    assert dataclasses.replace(Named(first="a"), checked=True) == Named(first="a", checked=True)
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 0}
    assert [field.name for field in dataclasses.fields(Size)] == ["x", "y"]


def test_the_names_of_the_fields_come_in_order() -> None:
    assert field_names(Point) == field_names(Point(1)) == ("x", "y")


def test_they_are_matched_copied_and_pickled() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
    assert copy.deepcopy(Point(1, 2)) == Point(1, 2)
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
