"""Random functions of a group's table whose objects escape and alias: in containers, attributes,
closures, views, and in the hands of code that is not read.
"""

from __future__ import annotations

from random import Random

from tests.dataflow.grammar import Writer

HELPERS = '''
import functools
from collections import Counter, defaultdict, namedtuple
from dataclasses import asdict, dataclass


class Keeper:
    """Not read, because it has a special method."""

    def __init__(self, *kept):
        self.kept, self.calls = list(kept), []

    def __bool__(self):
        return True

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def register(self, call):
        self.calls.append(call)

    def fire(self):
        for call in self.calls:
            call()

    def wreck(self, value='u'):
        for thing in self.kept:
            wreck(thing, value)

    def fit(self, table, by=None):
        return self

    def predict(self, table):
        return [1.0] * len(table)


def wreck(thing, value):
    if isinstance(thing, pd.DataFrame):
        thing['k'] = value
    elif isinstance(thing, (pd.Series, np.ndarray)):
        thing[:] = value
    elif isinstance(thing, dict):
        for inner in thing.values():
            wreck(inner, value)
    elif isinstance(thing, (list, tuple)):
        for inner in thing:
            wreck(inner, value)
    elif hasattr(thing, 'frame'):
        wreck(thing.frame, value)


class Box:
    """A small class, which is read."""

    column = 'k'

    def __init__(self, frame, value=None):
        self.frame = frame
        self.value = value

    def put(self, value):
        self.frame[self.column] = value

    def swap(self, frame):
        old, self.frame = self.frame, frame
        return old

    @property
    def rows(self):
        return self.frame.head(2)


@dataclass
class Visit:
    k: object
    m: object = None


Point = namedtuple('Point', ['k', 'm'])


def through(f, *args, **kwargs):
    return f(*args, **kwargs)


def put(frame, column='z', value=None):
    frame[column] = value
    return frame
'''


class EscapingWriter(Writer):
    """Writes a function with objects that hold the table or parts of it."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.keepers: list[str] = []
        self.boxes: list[str] = []
        self.lists: list[str] = []
        self.dicts: list[str] = []

    def statement(self, depth: int) -> None:
        if self.random.random() < 0.45:
            self.escape(depth)
        else:
            super().statement(depth)

    def part(self) -> str:
        """A table, or something that holds a part of it."""
        f, c = self.frame, self.column()
        return self.pick(
            *(f, f, f"{f}['{c}']", f"{f}['k']", f"{f}['k'].values", f"{f}[['k', 'x']]", f"[{f}]"),
            *(f"{f}.values", f"{{'a': {f}}}", f"({f}, 1)", f"Box({f})", f"{f}['k'].to_numpy()"),
            *(f"{f}.copy()", f"{f}['k'].copy()", f"list({f}['k'])", f"{f}.iloc[0]", f"{f}.head(2)"),
            *(self.boxes + self.lists + self.dicts),
        )

    def escape(self, depth: int) -> None:
        """One statement that makes, stores or uses such an object."""
        kind = self.random.random()
        if kind < 0.25:
            self._episode(depth)
        elif kind < 0.65 and depth == 1:
            self._make(depth)
        else:
            self.add(self._use(), depth)

    def _episode(self, depth: int) -> None:
        """The table is handed over, gets its key again, and is changed, or not, by the holder."""
        f, name, s = self.frame, self.new("h"), self.scalar()
        hand, use = self.random.choice(
            [
                (f"Keeper({f})", f"{name}.wreck({s})"),
                (f"Keeper([{f}])", f"{name}.wreck({s})"),
                (f"Keeper({{'a': {f}}})", f"{name}.wreck({s})"),
                (f"Keeper(Box({f}))", f"{name}.wreck({s})"),
                (f"Keeper({f}['k'].values)", f"{name}.wreck({s})"),
                (f"Keeper({f}[['k']])", f"{name}.wreck({s})"),
                (f"Keeper({f}['x'])", f"{name}.wreck({s})"),
                (f"Keeper({f}.copy())", f"{name}.wreck({s})"),
                (f"Box({f}, {s})", f"{name}.put({name}.value)"),
                (f"[{f}]", f"wreck({name}, {s})"),
                (f"functools.partial(spoil, {f}, {s})", f"{name}()"),
                (f"functools.partial(lambda: spoil({f}, {s}))", f"{name}()"),
                (f"map(lambda d: spoil(d, {s}), [{f}])", f"list({name})"),
                (f"(spoil(d, {s}) for d in [{f}])", f"list({name})"),
                (f"{f}.iterrows()", f"{f}['k'] = [r['k'] for _, r in {name}]"),
            ]
        )
        self.add(f"{name} = {hand}", depth)
        self.add(f"{f}['k'] = key[0]", depth)
        if self.random.random() < 0.7:
            self.add(use, depth)
        if depth == 1:
            self.frames.append(f)

    def _make(self, depth: int) -> str:
        f, kind = self.frame, self.pick("keeper", "keeper", "box", "list", "dict", "frame", "frame")
        name = self.new(kind[0])
        match kind:
            case "keeper":
                self.add(f"{name} = Keeper({self.pick('', self.part())})", depth)
                self.keepers.append(name)
            case "box":
                self.add(f"{name} = Box({f}, {self.scalar()})", depth)
                self.boxes.append(name)
            case "list":
                self.add(f"{name} = [{self.pick('', f, self.part())}]", depth)
                self.lists.append(name)
            case "dict":
                self.add(f"{name} = {{'a': {self.pick(f, self.part())}}}", depth)
                self.dicts.append(name)
            case _:
                self.add(f"{name} = {self._table()}", depth)
                self.frames.append(name)
        return name

    def _table(self) -> str:
        """A table out of another object, or rows by hand."""
        f, s = self.frame, self.scalar()
        options = [
            *(f, f"put({f}, 'k', {s})", f"through(put, {f}, value={s})"),
            f"through(put, *({f}, 'z', {s}))",
            f"put({f}.copy(), **{{'column': 'k', 'value': {s}}})",
            f"pd.DataFrame([{{'k': r['k'], 'm': r['{self.column()}']}} "
            f"for _, r in {f}.iterrows()])",
            f"pd.DataFrame([{{'k': {f}.iloc[0]['k'], 'm': {s}}}])",
            f"pd.DataFrame([[next(iter({f}['{self.pick('k', 's')}'])), 1]], columns=['k', 'm'])",
            f"pd.DataFrame([next({f}.iterrows())[1]])",
            f"pd.DataFrame([asdict(Visit({s}, 1))])",
            f"pd.DataFrame([Visit({s}), Visit({self.scalar()})])",
            f"pd.DataFrame([Point({s}, 1)], columns=['{self.pick('k', 'm')}', 'z'])",
            f"pd.DataFrame([Point({s}, 1)])",
            f"{f}.groupby('{self.pick('k', 's', 't')}').apply(lambda d: len(d)).reset_index()",
            f"{f}.groupby('k').apply(lambda d: pd.Series({{'m': d['x'].max()}})).reset_index()",
            f"{f}.groupby('k').apply(lambda d: put(d, 'k', 1)).reset_index(drop=True)",
            "functools.reduce(lambda a, b: a.merge(b, on='t'), "
            f"[{f}[['k', 't']], {f}[['t', 'x']]])",
            f"functools.reduce(lambda a, b: put(a, 'k', {s}), [{f}, {f}])",
            f"pd.merge_ordered({f}[['k', 't']], {self.frame}[['t', 'x']], on='t', "
            f"how='{self.pick('inner', 'left', 'outer')}')",
            f"{f}.round({self.pick('1', '-1')})",
            f"pd.DataFrame({{'k': [str({s})], 'm': [1]}})",
            f"pd.DataFrame({{'k': {f}['k'].astype(str), 'm': 1}})",
            f"pd.DataFrame({{'k': [f\"{{{s}}}\"], 'm': [1]}})",
        ]
        options += [f"{b}.frame" for b in self.boxes] + [f"{b}.rows" for b in self.boxes]
        options += [f"{b}.swap({f})" for b in self.boxes]
        options += [f"{x}[0]" for x in self.lists] + [f"{d}['a']" for d in self.dicts]
        options += [f"{k}.keep({f})" for k in self.keepers]
        return self.random.choice(options)

    def _use(self) -> str:
        """A statement with what is there."""
        f, s, part = self.frame, self.scalar(), self.part()
        options = [
            f"{f}['k'] = key[0]",
            f"wreck_later = (spoil(d, 'u') for d in [{f}])",
            f"later = map(lambda d: spoil(d, {s}), [{f}])",
            f"later = functools.partial(spoil, {f}, {s})",
            f"through(spoil, {f}, {s})",
            f"view = {f}['k'].values",
            f"Keeper({part}).wreck({s})",
            f"Counter().update({f}['s'].dropna())",
        ]
        for k in self.keepers:
            options += [
                *(f"{k}.wreck({s})", f"{k}.wreck()", f"{k}.keep({part})", f"{k}.kept = [{part}]"),
                f"{k}.register(lambda: spoil({f}, {s}))",
                *(f"{k}.fire()", f"{k}.fire()", f"{f}['z'] = {k}.fit({part}).predict({f})"),
            ]
        for b in self.boxes:
            options += [
                *(f"{b}.put({s})", f"{b}.frame = {f}", f"{b}.column = '{self.pick('k', 'z')}'"),
                *(f"{b}.frame['k'] = {s}", f"{b}.put({b}.value)", f"{b}.value = {s}"),
            ]
        for x in self.lists:
            options += [f"{x}.append({part})", f"{x}[0]['k'] = {s}", f"wreck({x}, {s})"]
        for d in self.dicts:
            options += [f"{d}['b'] = {part}", f"{d}['a']['k'] = {s}", f"wreck({d}, {s})"]
        return self.random.choice(options)


def escaping_function(random: Random, name: str) -> str:
    """The text of a function of a group."""
    writer = EscapingWriter(random)
    writer.block(1, random.randint(2, 7))
    result = writer.frames[-1] if random.random() < 0.6 else writer.frame
    writer.add(f"return {result}", 1)
    return f"def {name}(key, pdf):\n" + "\n".join(writer.lines) + "\n"
