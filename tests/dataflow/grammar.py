"""Random functions of a group's table, of the idioms that people write and of what spoils them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

NAMES = ("k", "x", "y", "s", "t")
NUMBERS = ("x", "y", "t")
_HELPERS = {
    "labels": "LABELS = pd.DataFrame({'t': [0, 1, 1], 'name': ['zero', 'one', None]})\n",
    "first": "def first(f):\n    return f.head(2)\n",
    "spoil": "def spoil(f, v):\n    f['k'] = v\n    return f\n",
    "fill": "def fill(f, c):\n    f = f.copy()\n    f[c] = f[c].fillna(0)\n    return f\n",
    "grow": "def grow(s):\n    s += 1\n    return s\n",
}


@dataclass(slots=True)
class Writer:
    """Writes one function. ``frames`` and ``series`` are variables that are there."""

    random: Random
    lines: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=lambda: ["pdf"])
    series: list[str] = field(default_factory=list)
    count: int = 0

    def pick(self, *options: str) -> str:
        """One of these."""
        return self.random.choice(options)

    def of_group(self) -> str:
        """Rows of the group of a ``groupby``, or others."""
        chosen = ("g.head(1)", "g.nlargest(1, 'x')", "g[['k', 'x']].tail(2)", "g", "g.sum()")
        changed = (
            "g.assign(k=g['y'])",
            "g.assign(m=1)",
            "g.shift(1)",
            "g.set_index('k')",
            "g['k']",
        )
        return self.pick(*chosen, *changed)

    def new(self, kind: str) -> str:
        """A variable that is not there yet."""
        self.count += 1
        return f"{kind}{self.count}"

    def add(self, text: str, depth: int) -> None:
        """A line."""
        self.lines.append("    " * depth + text)

    @property
    def frame(self) -> str:
        """A table that is there, the latest ones more often."""
        return self.random.choice(self.frames[-2:] if self.random.random() < 0.6 else self.frames)

    # --- expressions ----------------------------------------------------------------------------

    def column(self) -> str:
        return self.pick(*NAMES)

    def number(self) -> str:
        return self.pick(*NUMBERS)

    def scalar(self) -> str:
        f = self.frame
        if self.random.random() < 0.15:
            return self.observation(f)
        return self.pick(
            "key[0]",
            "key[0]",
            "1",
            "'u'",
            "None",
            f"{f}['k'].iloc[0]",
            f"{f}['k'].values[0]",
            f"{f}['{self.number()}'].mean()",
            f"{f}.{self.number()}.max()",
            f"len({f})",
            f"{f}['k'].unique()[0]",
            f"{f}.shape[0]",
            f"{f}.loc[{f}.index[0], 'k']",
            f"{f}.iloc[0]['k']",
        )

    def observation(self, f: str) -> str:
        """Something that may say which columns a table has, of which types, or what is in them."""
        c = self.number()
        return self.pick(
            f"len({f}.columns)",
            f"{f}.columns[-1]",
            f"'z' in {f}",
            f"'{c}' in {f}.columns",
            f"{f}.shape[1]",
            f"{f}.size",
            f"{f}.values.dtype.kind",
            f"str({f}.iloc[0]['{c}'])",
            f"str({f}.loc[{f}.index[0]]['{c}'])",
            f"str({f}.head(1).squeeze()['{c}'])",
            f"str(next({f}.iterrows())[1]['{c}'])",
            f"str({f}.apply(lambda r: r['{c}'], axis=1).iloc[0])",
            f"str({f}.to_dict('records')[0]['{c}'])",
            f"str({f}.to_numpy()[0][0])",
            f"str(list({f}.itertuples())[0][-1])",
            f"str(list({f}.itertuples(index=False))[0].{c})",
            f"sorted({f})[0]",
            f"list({f})[-1]",
            f"len(list({f}.items()))",
            f"{f}.isna().any().sum()",
            f"{f}.count().sum()",
            f"{f}.nunique().sum()",
            f"{f}.sum(numeric_only=True).index[-1]",
            f"str({f}.select_dtypes('number').columns)",
            f"{f}.dtypes.iloc[-1].kind",
            f"str({f}.iloc[0, -1])",
            f"str({f}.iloc[:, 1].max())",
            f"str({f}.get('{c}').max())",
            f"str({f}.get('w'))",
            f"len({f}.T)",
            f"len({f}.filter(regex='^.$').columns)",
            f"len({f}.filter(items=['{c}', 'w']).columns)",
            f"len({f}.describe().columns)",
            f"str({f}.agg({{'{c}': 'max'}}).iloc[0])",
            f"len({f}.groupby('k').max().columns)",
            f"str({f}.groupby('k')['{c}'].max().iloc[0])",
            f"len({f}.reindex(columns=['{c}', 'w']).columns)",
            f"str({f}.loc[:, '{c}'].iloc[0])",
            f"str({f}.loc[:, ['{c}', 'k']].iloc[0]['{c}'])",
            f"len({f}.equals({f}) and {f}.columns)",
            f"len({f}.set_index('{c}').columns)",
            f"len({f}.pivot_table(index='k', values='{c}', aggfunc='max').columns)",
            "len(locals()['pdf'].columns)",
            "len(vars()['pdf'].columns)",
            "eval('len(pdf.columns)')",
            f"getattr({f}, '{c}').max()",
            f"len(repr({f}))",
            f"len(f'{{{f}}}')",
            f"bool(({f}.notna()).all(axis=None))",
            f"{f}.memory_usage().sum()",
            f"{f}.ndim",
            f"len({f}.axes[1])",
            f"len({f}.keys())",
            f"{f}.pipe(len)",
            f"{f}.pipe(lambda d: d.shape[1])",
            f"{f}.stack().iloc[-1]",
            f"len({f}.rename(columns=str.upper).columns)",
            f"len({f}.add_prefix('p').columns)",
            f"len({f}.join({f}[['{c}']], rsuffix='_r').columns)",
            f"len({f}.merge({f}).columns)",
            f"[lambda: str({f}['{c}'].max())].pop()()",
            f"(lambda d={f}: str(d['{c}'].max()))()",
            f"list(map(lambda g: g(), [lambda: str({f}['{c}'].max())]))[0]",
            f"{{}}.setdefault('a', lambda: str({f}['{c}'].max()))()",
            f"next(str(d['{c}'].max()) for d in [{f}])",
            f"len({f}.append)",
        )

    def vector(self) -> str:
        f, c = self.frame, self.number()
        options = [
            f"{f}['{c}']",
            f"{f}.{c} * 2 + {f}['{self.number()}']",
            f"{f}['{c}'].fillna(0)",
            f"{f}['k']",
            f"{f}['k'].values",
            f"{f}['k'].shift(1)",
            f"{f}['{c}'].cumsum()",
            f"{f}['{c}'].rank()",
            f"{f}['{c}'].rolling(2, min_periods=1).mean()",
            f"{f}['{c}'].expanding().max()",
            f"{f}['{c}'].ewm(alpha=0.5).mean()",
            f"np.where({f}['{c}'] > 1, {f}['{c}'], 0)",
            f"{f}['{c}'] - {f}['{c}'].mean()",
            f"{f}.apply(lambda r: r['{c}'], axis=1)",
            f"{f}.groupby('s')['{c}'].transform('sum')",
            f"np.asarray({f}['{c}'])",
            f"[1] * len({f})",
            f"{f}['k'][{f}['{c}'] > 1]",
            f"{f}['s'].map({{'a': 1}})",
            "range(2)",
            f"{f}['s'].str[0]",
            f"{f}['k'].astype(str).str[0]",
            f"{f}['s'].str.len()",
            f"{f}['k'].squeeze()",
            f"{f}['k'].repeat(1)",
            f"pd.Series({f}['k'].tolist())",
            f"range(1, len({f}) + 1)",
            f"np.arange({f}.shape[0])",
            f"[key[0]] * len({f})",
            f"np.full(len({f}), 1)",
            f"list(zip({f}['k'], {f}['t']))",
            f"{f}.duplicated('{c}')",
            f"np.select([{f}['{c}'] > 1], [{f}['k']], 0)",
            f"{f}.index",
        ]
        return self.random.choice(options + self.series)

    def mask(self, f: str) -> str:
        c = self.number()
        return self.pick(
            f"{f}['{c}'] > 1",
            f"{f}.{c}.notna()",
            f"({f}['{c}'] > 0) & ({f}['k'] == {f}['k'])",
            f"{f}['{c}'] > {f}['{c}'].mean()",
            f"{f}['s'].isin(['a', 'b'])",
            f"~({f}['{c}'] == 2)",
            f"~{f}.index.duplicated()",
            f"lambda d: d['{c}'] > 1",
        )

    def table(self) -> str:
        f, c = self.frame, self.number()
        g = self.frame
        return self.pick(
            f"{f}[{self.mask(f)}]",
            f"{f}[{self.mask(f)}]",
            f"{f}.loc[{self.mask(f)}]",
            f"{f}[['k', '{c}']]",
            f"{f}[['k', 'x', 'y', 's', 't']]",
            f"{f}.sort_values('{c}')",
            f"{f}.head(2)",
            f"{f}.iloc[1:]",
            f"{f}[:2]",
            f"{f}.copy()",
            f"{f}.drop(columns=['s'])",
            f"{f}.drop('s', axis=1)",
            f"{f}.rename(columns={{'{c}': 'w'}})",
            f"{f}.rename(columns={{'{c}': 'k', 'k': '{c}'}})",
            f"{f}.reset_index(drop=True)",
            f"{f}.reset_index()",
            f"{f}.assign(z={f}.{c} * 2)",
            f"{f}.assign({c}=lambda d: d['k'])",
            f"{f}.assign(k={self.scalar()})",
            f"{f}.drop_duplicates()",
            f"{f}.drop_duplicates(subset=['{c}'])",
            f"{f}.dropna()",
            f"{f}.dropna(subset=['{c}'])",
            f"{f}.nlargest(2, '{c}')",
            f"{f}.query('{c} > 1')",
            f"{f}.fillna(0)",
            f"{f}.fillna({{'{c}': 0}})",
            f"{f}.astype({{'{c}': float}})",
            f"{f}.set_index('k').reset_index()",
            f"{f}.set_index('t').sort_index().reset_index()",
            f"{f}.explode('s')",
            f"{f}.melt(id_vars=['k'], value_vars=['x', 'y'])",
            f"{f}.where({f}['{c}'] > 1)",
            f"{f}.replace({{'a': 'b'}})",
            f"{f}.groupby('k').agg({{'{c}': 'sum'}}).reset_index()",
            f"{f}.groupby('k')['{c}'].mean().reset_index()",
            f"{f}.groupby(['k', 's'], as_index=False).agg(n=('{c}', 'max'))",
            f"{f}.groupby('s').size().reset_index(name='n')",
            f"{f}.groupby('t')['{c}'].mean().interpolate().reset_index()",
            f"{f}.groupby('t').apply(lambda g: {self.of_group()}).reset_index(drop=True)",
            f"{f}.groupby('t').apply(lambda g: {self.of_group()}).reset_index()",
            f"{f}.groupby('t', group_keys=False).apply(lambda g: {self.of_group()})",
            f"{f}.describe().reset_index()",
            f"{f}['{c}'].value_counts().reset_index()",
            f"{f}.merge({g}[['k', '{c}']], on='k')",
            f"{f}.merge({g}[['t', 'k']], on='t', how='{self.pick('left', 'inner')}')",
            f"pd.merge({f}, {g}, on=['k', 't'])",
            f"pd.concat([{f}, {g}])",
            f"pd.concat([{f}[['k', '{c}']], {g}[['{c}']]])",
            f"pd.DataFrame([key + ({f}.{c}.sum(),)], columns=['k', 'm'])",
            f"pd.DataFrame({{'k': [{self.scalar()}], 'm': [{self.scalar()}]}})",
            f"pd.DataFrame({{'k': {self.vector()}, '{c}': {f}['{c}']}})",
            f"pd.DataFrame({{'k': {self.scalar()}, '{c}': {self.vector()}}})",
            "pd.DataFrame(columns=['k', 'm'])",
            f"pd.DataFrame([{{'k': {self.scalar()}, 'm': r.{c}}} for r in {f}.itertuples()])",
            f"pd.DataFrame({f}.to_dict('records'))",
            f"{f}.reindex(range({self.pick('2', '9')}))",
            f"{f}.reindex(columns=['k', '{c}'])",
            f"{f}.rename_axis('{self.pick('k', 'w')}').reset_index()",
            f"{f}.sample(n=1, random_state=3)",
            f"{f}.pivot_table(index='{self.pick('k', 's')}', columns='t', values='{c}')"
            ".reset_index()",
            f"{f}.groupby('k').agg({{'{c}': ['max']}}).reset_index()",
            f"{f}['{c}'].describe().to_frame().T",
            f"pd.crosstab({f}['{self.pick('k', 's')}'], {f}['t']).reset_index()",
            f"{f}.groupby('{self.pick('k', 't')}')['{c}'].sum().cumsum().reset_index(name='m')",
            f"({f}.groupby('k')['{c}'].sum() * 2).reset_index(name='m')",
            f"{f}.merge(LABELS, on='t', how='{self.pick('left', 'inner')}')",
            f"pd.merge_asof({f}[['t', '{self.pick('k', 'x')}']].sort_values('t'), "
            f"{g}[['t', '{self.pick('k', 'y')}']].sort_values('t'), on='t')",
            f"pd.DataFrame({{'k': [key[0]] * len({f}), 'm': {f}['{c}'].values}})",
            f"pd.DataFrame({{'k': [], 'm': {self.vector()}}})",
            f"pd.DataFrame([dict(zip(['k', 'm'], [{self.scalar()}, {self.scalar()}]))])",
            f"{f}[[n for n in {f}.columns if n not in ('{c}', 'z')]]",
            f"first({f})",
            f"fill({f}, '{c}')",
            f"spoil({f}, {self.scalar()})",
            f"spoil({f}.copy(), {self.scalar()})",
        )

    # --- statements -----------------------------------------------------------------------------

    def block(self, depth: int, size: int) -> None:
        """Some statements."""
        for _ in range(size):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        kind = self.random.random()
        f, c = self.frame, self.column()
        if kind < 0.34:
            name = self.new("f") if depth == 1 or self.random.random() < 0.2 else f
            self.add(f"{name} = {self.table()}", depth)
            if depth == 1 and name not in self.frames:
                self.frames.append(name)
        elif kind < 0.48:
            self.add(f"{f}['{self.pick('z', c)}'] = {self.vector()}", depth)
        elif kind < 0.56:
            self.add(f"{f}['{self.pick('z', 'k', c)}'] = {self.scalar()}", depth)
        elif kind < 0.66 and depth == 1:
            name = self.new("s")
            self.add(f"{name} = {self.vector()}", depth)
            self.series.append(name)
        elif kind < 0.82 or depth > 2:
            self.add(self.change(f, c), depth)
        else:
            self.nested(f, depth)

    def change(self, f: str, c: str) -> str:
        options = [
            f"{f}.loc[{self.mask(f)}, '{c}'] = {self.scalar()}",
            f"{f}.iloc[0, 0] = {self.scalar()}",
            f"{f}.at[{f}.index[0], '{c}'] = {self.scalar()}",
            f"{f}.columns = ['k', 'x', 'y', 's', 't']",
            f"{f}.columns = ['x', 'k', 'y', 's', 't']",
            f"del {f}['{c}']",
            f"{f}.pop('{c}')",
            f"{f}.insert(0, 'q', {self.scalar()})",
            f"{f}.drop(columns=['{c}'], inplace=True)",
            f"{f}.rename(columns={{'{c}': 'v'}}, inplace=True)",
            f"{f}.sort_values('t', inplace=True)",
            f"{f}.fillna(0, inplace=True)",
            f"{f}.reset_index(drop=True, inplace=True)",
            f"{f}['{c}'] += 1",
            f"{f}.{c} = {self.scalar()}",
            f"{f}.loc[len({f})] = [key[0], 1.0, 2, 'a', 3]",
            f"{f}[{f}['t'] > 1] = 0",
            f"spoil({f}, 'u')",
            f"[lambda: spoil({f}, 'u')].pop()()",
            f"(lambda d={f}: d.pop('{c}'))()",
        ]
        for s in self.series[-2:]:
            options += [
                f"{s} += 1",
                f"{s}[0] = 5",
                f"{s}.iloc[0] = 7",
                f"grow({s})",
                f"{s}.index = range(9, 9 + len({s}))",
                f"{s}.reset_index(drop=True, inplace=True)",
                f"{s}.drop(0, inplace=True)",
                f"np.copyto({s}.values, 0)",
                f"{s}.fillna(0, inplace=True)",
            ]
        return self.random.choice(options)

    def offer(self, name: str, depth: int) -> None:
        """Let the rest of the function use a table that is certainly bound."""
        if depth == 1:
            self.frames.append(name)

    def records(self, f: str, depth: int) -> None:
        """A table of objects that stand for rows, of which some are changed."""
        name, rows = self.new("f"), self.new("r")
        fields = f"{{'k': {self.pick('r.k', 'r.s', 'r.t')}, 'x': r.x, 't': r.t}}"
        objects = self.pick(f"{f}.to_dict('records')", f"[{fields} for r in {f}.itertuples()]")
        self.add(f"{rows} = {objects}", depth)
        change = f"['{self.pick('k', 'x', 'm')}'] = {self.scalar()}"
        match self.random.randrange(4):
            case 0:
                self.add(f"{rows}[{self.pick('0', '-1')}]{change}", depth)
            case 1:
                self.add(f"for r in {rows}:", depth)
                self.add(f"r{change}", depth + 1)
            case 2:
                self.add(f"first = {rows}[0]", depth)
                self.add(f"first.update({{'k': {self.scalar()}}})", depth)
        self.add(f"{name} = pd.DataFrame({rows}, columns=['k', 'x', 't', 'm'])", depth)
        self.add(f"{name}['s'] = 'a'", depth)
        self.offer(name, depth)

    def nested(self, f: str, depth: int) -> None:
        kind = self.pick(
            "if", "if", "for", "cols", "try", "rows", "groups", "early", "while", "built", "records"
        )
        inner = depth + 1
        match kind:
            case "if":
                self.add(
                    f"if {self.pick(f'len({f}) > 1', f'{f}.t.max() > 1', f'{f}.empty')}:", depth
                )
                self.block(inner, 1)
                if self.random.random() < 0.5:
                    self.add("else:", depth)
                    self.block(inner, 1)
            case "for":
                self.add("for i in range(2):", depth)
                self.block(inner, 2)
                if self.random.random() < 0.3:
                    self.add(f"if {f}.t.min() > i:", inner)
                    self.add(self.pick("break", "continue"), inner + 1)
            case "pairs":
                over = self.pick(
                    "zip(['k', 'z'], [1, 2])",
                    f"zip(['k', 'z'], {f}['t'])",
                    "enumerate(['x', 'k'])",
                    "{'z': 1, 'k': 2}.items()",
                    "names.items()",
                    "numbered",
                )
                self.add("names = {'a': 'x', 'b': 'y'}", depth)
                self.add("numbered = enumerate(['x', 'z'])", depth)
                self.add(f"for a, b in {over}:", depth)
                self.add(self.pick("names['b'] = 'k'", "pass"), inner)
                written = self.pick("a", "b", "str(a) + 'q'")
                self.add(f"{f}[{written}] = {self.scalar()}", inner)
                self.block(inner, 1)
            case "built":
                name = self.new("f")
                self.add(f"{name} = pd.DataFrame()", depth)
                for column in self.random.sample(["k", "x", "m"], 2):
                    value = self.pick(self.scalar(), self.vector(), f"{f}['k']")
                    self.add(f"{name}['{column}'] = {value}", depth)
                self.offer(name, depth)
            case "all":
                self.add(f"for c in {f}.columns:", depth)
                self.add(f"if c {self.pick('in', 'not in')} ('k', 's'):", inner)
                self.add("continue", inner + 1)
                self.add(f"{f}[c] = {self.pick('0', f'{f}[c].shift(1)')}", inner)
            case "while":
                self.add("n = 0", depth)
                self.add("while n < 2:", depth)
                self.add("n += 1", inner)
                self.block(inner, 1)
            case "cols":
                self.add("for c in ['x', 'y']:", depth)
                self.add(f"{f}[c + '_n'] = {f}[c] * 2", inner)
                self.add(f"{f}[c] = {self.vector()}", inner)
            case "try":
                self.add("try:", depth)
                self.block(inner, 2)
                self.add("except Exception:", depth)
                self.block(inner, 1)
                if self.random.random() < 0.3:
                    self.add("finally:", depth)
                    self.add(f"{f}['{self.column()}'] = {self.scalar()}", inner)
            case "rows":
                name, rows = self.new("f"), self.new("r")
                self.add(f"{rows} = []", depth)
                self.add(f"for r in {f}.itertuples():", depth)
                self.add(f"{rows}.append({{'k': {self.scalar()}, 'x': r.{self.number()}}})", inner)
                self.add(f"{name} = pd.DataFrame({rows})", depth)
                self.offer(name, depth)
            case "records":
                self.records(f, depth)
            case "groups":
                name, parts = self.new("f"), self.new("p")
                self.add(f"{parts} = []", depth)
                by = self.pick("'s'", "'t'", f"{f}['t'] % 2", f"({f}['x'].diff() > 1).cumsum()")
                self.add(f"for g, part in {f}.groupby({by}):", depth)
                self.add(f"part['{self.pick('x', 'z')}'] = {self.scalar()}", inner)
                self.add(f"{parts}.append(part)", inner)
                self.add(f"{name} = pd.concat({parts})", depth)
                self.offer(name, depth)
            case _:
                self.add(f"if len({f}) < 2:", depth)
                value = self.pick("pd.DataFrame(columns=['k', 'm'])", f, self.table())
                self.add(f"return {value}", inner)


def group_function(random: Random, name: str) -> str:
    """The text of a function of a group."""
    writer = Writer(random)
    writer.block(1, random.randint(1, 6))
    last = random.random()
    result = writer.frames[-1] if last < 0.6 else writer.frame if last < 0.8 else writer.table()
    writer.add(f"return {result}", 1)
    return f"def {name}(key, pdf):\n" + "\n".join(writer.lines) + "\n"


def batch_function(random: Random, name: str) -> str:
    """The text of a function of batches."""
    writer = Writer(random)
    lines = []
    if random.random() < 0.3:
        lines.append("    n = 0")
    lines.append("    for pdf in it:")
    start = len(writer.lines)
    writer.block(2, random.randint(1, 4))
    body = [
        line.replace("key[0]", "'k0'").replace("key + ", "('k0',) + ")
        for line in writer.lines[start:]
    ]
    lines += [b if "return" not in b else b.split("return")[0] + "pass" for b in body]
    if random.random() < 0.2:
        lines.append("        n = len(pdf)")
        lines.append("        pdf['y'] = n")
    lines += [f"        {line}" for line in _yields(writer)]
    return f"def {name}(it):\n" + "\n".join(lines) + "\n"


def _yields(writer: Writer) -> list[str]:
    """What a function of batches yields of its table: some of it, perhaps in several parts, or a
    table that is built column by column.
    """

    def some() -> str:
        return writer.pick("pdf", "pdf", f"pdf[{writer.mask('pdf')}]", "pdf[['k', 'x']]")

    lines: list[str] = []
    match writer.random.randrange(6):
        case 0:
            lines.append(f"yield {some()}")
            if writer.random.random() < 0.4:
                lines.append(
                    f"pdf['{writer.column()}'] = {writer.pick('0', 'pdf.x', 'pdf.x.max()')}"
                )
        case 1:
            source = writer.pick("pdf", "pdf", f"pdf[{writer.mask('pdf')}]", "pdf.head(2)")
            lines += [f"part = {source}", "out = pd.DataFrame()"]
            lines += [f"out['{n}'] = part['{n}']" for n in writer.random.sample(("k", "x", "s"), 2)]
            lines.append(f"out['m'] = {writer.pick('part', 'pdf')}['t'] * 2")
            return [*lines, f"yield {writer.pick('out', 'out[out.m > 2]')}"]
    return [*lines, f"yield {some()}"]


def helpers() -> str:
    """The functions that the others call."""
    return "\n\n".join(_HELPERS.values())
