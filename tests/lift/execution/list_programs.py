"""Random folds over lists whose length depends on the rows, heaps and deques."""

from __future__ import annotations

import random

TYPES = ("bigint", "bigint")
_TESTS = ("if row.b > 0:", "if row.s == 'a':", "if l:", "if len(l) > 1:", "if True:")
_BOUNDS: tuple[str, ...] = (
    "l = l[:3]",
    "del l[2:]",
    "l = l[-2:]",
    "if len(l) > 2: l.pop()",
    "l = sorted(l)[:3]",
)
_BOUNDS += (
    "if len(l) >= 3: del l[0]",
    "l = heapq.nlargest(2, l)",
    "l = l[:-1] if len(l) > 3 else l",
)


class ListPrograms:
    """A source of random classes. ``l`` is a list, ``h`` a heap, ``d`` a deque, ``t`` a list of
    tuples.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        """One of some texts."""
        return str(self.random.choice(choices))

    def program(self, name: str) -> tuple[str, tuple[str, str]]:
        """One class as source text, and the Spark types of its two outputs."""
        start = f"{self.pick('[]', '[]', '[3]', '[2, 5]')}, [], {self.deque()}, []"
        lines = [
            f"class {name}:",
            "    def zero(self):",
            f"        return ({start})",
            "    def reduce(self, acc, row):",
            "        l, h, d, t = acc",
            *("        " + line for line in self.body()),
            "        return (l, h, d, t)",
            "    def finish(self, acc):",
            "        l, h, d, t = acc",
            f"        return ({self.result()}, {self.result()})",
        ]
        return "\n".join(lines) + "\n", TYPES

    def function(self, name: str) -> tuple[str, tuple[str, str]]:
        """The same as a function for ``applyInPandas``."""
        lines = [
            f"def {name}(pdf):",
            f"    l, h, d, t = [], [], {self.deque()}, []",
            "    for row in pdf.itertuples(index=False):",
            *("        " + line for line in self.body()),
            f"    return pd.DataFrame({{'p': [{self.result()}], 'q': [{self.result()}]}})",
        ]
        return "\n".join(lines) + "\n", TYPES

    def deque(self) -> str:
        """A deque at the start."""
        return self.pick("deque(maxlen=2)", "deque([], 3)", "deque([1, 2], maxlen=2)")

    def body(self) -> list[str]:
        """What a row does."""
        lines: list[str] = []
        for _ in range(self.random.choice((1, 2, 2, 3))):
            change = (self.list_change, self.list_change, self.heap, self.deque_change, self.tuples)
            made = self.random.choice(change)()
            if self.random.random() < 0.5:
                made = [self.pick(*_TESTS), *("    " + line for line in made)]
                if self.random.random() < 0.3:
                    made += ["else:", *("    " + line for line in self.list_change())]
            lines += made
        return lines

    def number(self) -> str:
        """An integer of the row, or of what there is."""
        some = ("len(l)", "max(l, default=0)", "sum(d)", "(h[0] if h else 4)", "3")
        return self.pick("row.b", "row.b", "row.b", "-row.b", *some)

    def list_change(self) -> list[str]:
        """Changes of the list."""
        order = self.pick("l.sort()", "l.sort(reverse=True)", "l.sort(key=lambda x: -x)", "pass")
        grow = self.pick(
            f"l.append({self.number()})",
            f"l.append({self.number()})",
            f"l = l + [{self.number()}]",
            f"l = [*l, {self.number()}]",
            f"l += [{self.number()}]",
            f"l.insert(0, {self.number()})",
            f"l = sorted(l + [{self.number()}], reverse=True)",
            f"if len(l) < 3: l.append({self.number()})",
            "if l: l[0] += 1",
            "l.reverse()",
            "l = list(l)",
        )
        return [grow, order, self.pick(*_BOUNDS)]

    def heap(self) -> list[str]:
        """A bounded heap."""
        push = f"heapq.heappush(h, {self.number()})"
        return self.random.choice(
            [
                [push, "if len(h) > 2: heapq.heappop(h)"],
                [f"if len(h) < 2: {push}", f"else: heapq.heappushpop(h, {self.number()})"],
                [f"if len(h) < 2: {push}", "elif row.b > h[0]: heapq.heapreplace(h, row.b)"],
            ]
        )

    def deque_part(self) -> str:
        """A number from the deque."""
        return self.pick("d[0]", "d[-1]", "len(d)", "sum(d)", "max(d, default=1)")

    def deque_change(self) -> list[str]:
        """A change of the deque."""
        return [self.pick("d.append(row.b)", f"d.append({self.number()})", "d.clear()")]

    def tuples(self) -> list[str]:
        """The best of pairs."""
        key = self.pick("key=lambda p: p[0]", "key=lambda p: (p[1], p[0])", "reverse=True", "")
        return ["t.append((row.b, len(l)))", f"t.sort({key})", "t = t[:2]"]

    def result(self) -> str:
        """An integer at the end."""
        lists = ("len(l)", "l[0]", "l[-1]", "sum(l)", "(l[1] if len(l) > 1 else -1)", "min(l)")
        heaps = ("h[0]", "sum(h)", "sorted(h)[-1]", "sorted(h, reverse=True)[0]", "len(h)")
        pairs = ("t[0][1]", "t[-1][0]", "sum(x * y for x, y in t)", "len(t)")
        whole = ("(3 in l) + 0", "sum(1 for x in l if x > 2)", "any(x > 5 for x in d) + 0")
        return self.pick(*lists, *heaps, *pairs, *whole, self.deque_part())
