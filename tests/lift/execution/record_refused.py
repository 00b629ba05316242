"""Classes whose state is an object that must not be taken for a plain one."""

# mypy: ignore-errors

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class _Fold:
    def reduce(self, acc, row):
        acc.count += 1
        return acc

    def finish(self, acc):
        return acc.count


@dataclass
class Post:
    count: int = 0

    def __post_init__(self):
        self.count += 5


class Hooked:
    def __init__(self):
        self.count = 0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 7)


class Computed:
    def __init__(self):
        self.count = 0

    def __getattr__(self, name):
        return 1


class Setter:
    @property
    def count(self):
        return 3

    @count.setter
    def count(self, value):
        pass


class Truth:
    def __init__(self):
        self.count = 0

    def __bool__(self):
        return False


class Odd(NamedTuple):
    count: int

    def __eq__(self, other):
        return True


class Parent:
    def __init__(self):
        self.count = 0


class Child(Parent):
    pass


@dataclass
class Doubled:
    count: int

    @property
    def count(self):
        return self._count

    @count.setter
    def count(self, value):
        self._count = 2 * value


@dataclass
class OfPlain(Parent):
    more: int = 0


@dataclass
class Made:
    count: int = field(default_factory=lambda: 3)


@dataclass
class Good:
    count: int = 0


@dataclass(frozen=True)
class Frozen:
    count: int = 0


class Posted(_Fold):
    def zero(self):
        return Post()


class WithHook(_Fold):
    def zero(self):
        return Hooked()


class WithComputed(_Fold):
    def zero(self):
        return Computed()


class WithSetter(_Fold):
    def zero(self):
        found = Setter()
        found.count = 2
        return found


class WithTruth(_Fold):
    def zero(self):
        return Truth()


class WithOdd(_Fold):
    def zero(self):
        return Odd(1)


class WithChild(_Fold):
    def zero(self):
        return Child()


class WithDoubled(_Fold):
    def zero(self):
        return Doubled(1)


class WithPlainBase(_Fold):
    def zero(self):
        return OfPlain()


class WithMade(_Fold):
    def zero(self):
        return Made()


class ChangesFrozen(_Fold):
    def zero(self):
        return Frozen()


class Twice(_Fold):
    """One object under two names from row to row."""

    def zero(self):
        found = Good()
        return found, found

    def reduce(self, acc, row):
        acc[0].count += 1
        return acc

    def finish(self, acc):
        return acc[1].count


class Either(_Fold):
    """None or an object that is changed."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        if acc is None:
            acc = Good()
        acc.count += 1
        return acc


class Unpacked(_Fold):
    def zero(self):
        return Good()

    def finish(self, acc):
        (count,) = acc
        return count


class Indexed(Unpacked):
    def finish(self, acc):
        return acc[1]


class Measured(Unpacked):
    def finish(self, acc):
        return len(acc)


class Equal(Unpacked):
    def finish(self, acc):
        return acc == Good(3)


class Returned(Unpacked):
    def finish(self, acc):
        return acc


class NewField(Unpacked):
    """A field that only some rows add."""

    def reduce(self, acc, row):
        if row.s == "a":
            acc.extra = 1
        return acc


REFUSED = [
    (Posted, "unknown-call", "nothing is known of Post"),
    (WithHook, "unknown-call", "nothing is known of Hooked"),
    (WithComputed, "unknown-call", "nothing is known of Computed"),
    (WithSetter, "mutation", "not a plain field"),
    (WithTruth, "unknown-call", "nothing is known of Truth"),
    (WithOdd, "unknown-call", "nothing is known of Odd"),
    (WithChild, "unknown-call", "nothing is known of Child"),
    (WithDoubled, "unknown-call", "nothing is known of Doubled"),
    (WithPlainBase, "unknown-call", "nothing is known of OfPlain"),
    (WithMade, "unknown-call", "is made by a call"),
    (ChangesFrozen, "mutation", "changed in place"),
    (Twice, "mutation", "two names"),
    (Either, "mutation", "may be None"),
    (Unpacked, "unsupported-operation", "an object of class Good"),
    (Indexed, "unsupported-expression", "an object of class Good"),
    (Measured, "unsupported-operation", "length"),
    (Equal, "unsupported-operation", "comparing"),
    (Returned, "return-shape", "an object of class Good"),
    (NewField, "mixed-types", "an object of class Good"),
]
