"""What a function of batches does to its table ``pdf``, and the type of the column ``r`` that it
makes. ``ALONE`` treat rows by themselves; of ``TOGETHER``, each shows a way in which the other rows
of the batch matter.
"""

from __future__ import annotations


def lines(*statements: str, type_: str = "string") -> tuple[str, str]:
    """Several statements, and the type of ``r``."""
    return "\n        ".join(statements), type_


HELPERS = """
import datetime
import itertools
import json
import re

import numpy as np
import pandas as pd

COUNTER = itertools.count()
CACHE = {}


class Ranks:
    def __init__(self):
        self.n = 0

    def get(self, value):
        self.n += 1
        return self.n


class Scaled:
    def __init__(self, pdf):
        self.most = pdf["x"].max()

    def get(self, value):
        return value / self.most


def numbered(value):
    return next(COUNTER)


def cached(value):
    CACHE[value] = 1
    return len(CACHE)


def gathered(value, seen=[]):
    seen.append(value)
    return len(seen)


def tripled(value, by=3.0):
    return value * by
"""

ALONE = (
    ("pdf['r'] = pdf['x'].map(tripled)", "double"),
    ("pdf['r'] = [tripled(v) if v > 0 else None for v in pdf['x']]", "double"),
    ("pdf['r'] = [float(v) if v > 0 else 0 for v in pdf['x']]", "double"),
    ("pdf['r'] = pdf['s'].str.upper().astype(str)", "string"),
    ("pdf['r'] = pd.cut(pdf['x'], [0, 1, 2], labels=['a', 'b']).astype(str)", "string"),
    ("pdf['r'] = pdf['s'].str.len().astype('Int64').astype(str)", "string"),
    ("pdf['r'] = pdf['m'] // 2", "bigint"),
    ("pdf['r'] = pdf['x'].clip(0, 1).map(str)", "string"),
    ("pdf['r'] = pdf['s'].map({'a': 1, 'ab': 2}).fillna(0)", "bigint"),
    ("pdf['r'] = pdf['s'].map({'a': 'x'}) == 'x'", "boolean"),
    ("pdf['r'] = pdf['s'].isin(['a', 'ab'])", "boolean"),
    ("pdf['r'] = pdf['s'].str.startswith('a') | (pdf['x'] > 0)", "boolean"),
    ("pdf['r'] = pdf['s'].str.startswith('a', na=False) | (pdf['n'] > 0)", "boolean"),
    ("pdf['r'] = (pdf['n'] > 0) | (pdf['x'] > 1) | pdf['m'].isin([5])", "boolean"),
    ("pdf['r'] = pdf['s'].str.startswith('a') & pdf['s'].str.endswith('b')", "boolean"),
    lines(
        "docs = [json.loads('{}') if s == '1' else {} for s in pdf['s']]",
        "pdf['r'] = [float(d.get('size', 0)) for d in docs]",
        type_="double",
    ),
    lines(
        "pdf['q'] = pdf['s'].str.len()",
        "pdf['r'] = np.where(pdf['q'] > 1, 'long', 'short')",
    ),
    lines("w = np.array([0.5, 2.0])", "pdf['r'] = pdf['x'] * w[0] + w[1]", type_="double"),
    lines("w = np.asarray([0, 1, 5])", "pdf['r'] = np.digitize(pdf['x'], w)", type_="bigint"),
    ("pdf['r'] = np.digitize(pdf['m'], [0, 1, 5], right=True)", "bigint"),
    ("pdf['r'] = pd.cut(pdf['x'], np.array([0, 1, 2]), labels=['a', 'b']).astype(str)", "string"),
    (r"pdf['r'] = pdf['s'].str.extract(r'(\w)', expand=False)", "string"),
    (r"pdf['r'] = pdf['s'].str.count(r'[a-z]') > 1", "boolean"),
    ("pdf['r'] = pdf['s'].str.count('a')", "bigint"),
    ("pdf['r'] = pdf['s'].str.find('a')", "bigint"),
    ("pdf['r'] = pdf['s'].str.removesuffix('b').str.removeprefix('a')", "string"),
    ("pdf['r'] = pdf['s'].str.isdecimal()", "boolean"),
    (r"pdf['r'] = pdf['s'].str.replace(r'a|\d', '-', regex=True)", "string"),
    lines(
        r"pattern = re.compile(r'b|(\d)')", "pdf['r'] = pdf['s'].str.extract(pattern, expand=False)"
    ),
    ("pdf['r'] = pd.to_datetime(pdf['c']).dt.day_name()", "string"),
    ("pdf = pdf.assign(x=pdf['x'] * 2, r=pdf['x'] + 1)", "double"),
    ("pdf = pdf.assign(s=pdf['s'].str.upper(), r=lambda t: t['s'])", "string"),
    (r"pdf = pd.concat([pdf, pdf['s'].str.extract(r'(?P<r>\w)')], axis=1)", "string"),
    (r"pdf['r'] = pdf['s'].str.extract(r'(?P<first>\w)(?P<q>\w?)')['q']", "string"),
    lines(
        "parts = pdf['s'].str.lower().str.extract(r'^(?P<r>[a-z])(?P<q>[b-z]?)')",
        "pdf = pd.concat([pdf[['k', 'x']], parts], axis='columns')",
    ),
    lines("r = pdf['x'].rename('r')", "pdf = pd.concat([pdf[['k']], r], axis=1)", type_="double"),
    lines(
        "pdf = pdf[pdf['x'] > 0]",
        "pdf = pd.concat([pdf[['k']], pdf['s'].str.extract('(?P<r>a|b)')], axis=1)",
    ),
    (
        "pdf = pd.DataFrame([{'k': r['k'], 'r': r['x'] * 2} for r in pdf.to_dict('records')])",
        "double",
    ),
    lines(
        "rows = []",
        "for r in pdf.itertuples():",
        "    rows.append({'k': r.k, 'r': 'a' if r.x > 1 else 'b'})",
        "pdf = pd.DataFrame(rows)",
    ),
    lines("pdf = pdf.query('x >= 1 and not x == 2.0')", "pdf['r'] = 'z'"),
    lines("pdf = pdf.query(\"(s == 'a') | (s != 'ab')\")", "pdf['r'] = 'z'"),
    lines("pdf = pdf.query(\"not (s == 'a' or n > 0)\")", "pdf['r'] = 'z'"),
    lines(
        "def parsed(s):",
        "    if s is None:",
        "        return {}",
        "    return json.loads('{}')",
        "docs = [parsed(s) for s in pdf['s']]",
        "pdf['r'] = [float(len(d.get('sizes', []))) for d in docs]",
        type_="double",
    ),
)

_OTHER_ROWS = (
    ("pdf['r'] = pdf['s'].count()", "bigint"),
    ("pdf['r'] = pdf['x'] - pdf['x'].iloc[0]", "double"),
    ("pdf['r'] = pdf['m'].iloc[0]", "bigint"),
    ("pdf['r'] = [v for v in pdf['x']][0]", "double"),
    ("pdf['r'] = next(pdf.itertuples()).x", "double"),
    ("pdf['r'] = pdf.to_dict('records')[0]['m']", "bigint"),
    lines("pdf = pdf[pdf['x'] >= pdf['x'].iloc[0]]", "pdf['r'] = 'z'"),
    lines("most = [v for v in pdf['x']][-1]", "pdf = pdf[pdf['x'] >= most]", "pdf['r'] = 'z'"),
    lines("pdf['r'] = 0", "pdf.loc[pdf['x'] > pdf['x'].iloc[0], 'r'] = 1", type_="int"),
    ("pdf['r'] = pdf['n'].isin(pdf['m'])", "boolean"),
    lines("w = np.array([pdf['x'].max(), 1.0])", "pdf['r'] = pdf['x'] * w[0]", type_="double"),
    lines(
        "w = np.array([1.0, 2.0])",
        "w[0] = pdf['x'].max()",
        "pdf['r'] = pdf['x'] * w[0]",
        type_="double",
    ),
    lines(
        "w = np.array([1.0, 2.0])", "w.fill(len(pdf))", "pdf['r'] = pdf['x'] * w[0]", type_="double"
    ),
    lines(
        "w = np.array([1.0, 2.0])",
        "np.add(w, len(pdf), w)",
        "pdf['r'] = pdf['x'] * w[1]",
        type_="double",
    ),
    lines(
        "w = [1.0, 2.0]",
        "w[0] = pdf['x'].max()",
        "pdf['r'] = pdf['x'] * np.array(w)[0]",
        type_="double",
    ),
    lines(
        "ws = [np.array([1.0]) if v > 0 else np.array([2.0]) for v in pdf['x']]",
        "pdf['r'] = pdf['x'] * ws[0][0]",
        type_="double",
    ),
    ("pdf['r'] = np.digitize(pdf['x'], sorted(pdf['m']))", "bigint"),
    ("pdf['r'] = pdf['x'] * np.array([2.0, 3.0])", "double"),
    lines("pdf = pdf.query('x >= x.mean()')", "pdf['r'] = 'z'"),
    lines(
        "seen = [v for v in pdf['x']]", "pdf['r'] = [seen.index(v) for v in pdf['x']]", type_="int"
    ),
)
_SIDE_BY_SIDE = (
    lines(
        "q = pdf.sort_values('x')[['x']].reset_index(drop=True)",
        "q.columns = ['r']",
        "pdf = pd.concat([pdf[['k']], q], axis=1)",
        type_="double",
    ),
    lines(
        "q = pdf[['x']].rename(columns={'x': 'r'})[pdf['x'] > 1].reset_index(drop=True)",
        "pdf = pd.concat([pdf[['k']], q], axis=1)",
        type_="double",
    ),
    lines(
        "q = pdf['x'].shift().rename('r')",
        "pdf = pd.concat([pdf[['k']], q], axis=1)",
        type_="double",
    ),
)
_DEFAULTS = (
    ("pdf['r'] = pdf['x'].apply(lambda v, m=pdf['x'].max(): v - m)", "double"),
    ("pdf['r'] = pdf.apply(lambda row, m=len(pdf): m, axis=1)", "int"),
    ("pdf['r'] = [(lambda v, m=len(pdf): m)(v) for v in pdf['x']]", "int"),
    lines("def f(v, m=len(pdf)):", "    return m", "pdf['r'] = pdf['x'].map(f)", type_="int"),
    lines(
        "def f(v, seen={}):",
        "    seen[v] = 1",
        "    return len(seen)",
        "pdf['r'] = [f(v) for v in pdf['x']]",
        type_="int",
    ),
    lines(
        "def f(v, c=itertools.count()):",
        "    return next(c)",
        "pdf['r'] = pdf['x'].map(f)",
        type_="int",
    ),
    ("pdf['r'] = pdf['x'].map(gathered)", "int"),
)
_LENGTHS = tuple(
    lines(statement, "pdf['r'] = pdf['x']", type_="double")
    for statement in (
        "pdf['q'] = [1, 2]",
        "pdf['q'] = range(2)",
        "pdf = pdf.assign(q=[1, 2])",
        "pdf.insert(0, 'q', [1, 2])",
        "pdf.loc[:, 'q'] = [1, 2]",
        "pdf['q'] = pd.Series([1, 2]).values",
        "q = pdf['x'] + [1, 2]",
        "q = pdf['x'] > [1, 2]",
        "q = pdf['x'] == pd.Series([1.0, 2.0])",
        "q = pdf['x'].add([1, 2])",
        "q = pd.DataFrame({'x': pdf['x'].values, 'q': [1, 2]})",
        "q = pd.DataFrame({'x': pdf['x'], 'q': [1, 2]})",
        "q = pdf[[True, False]]",
        "first, second = pdf['x']",
    )
)
"""They raise unless the batch has two rows."""
_STATE = (
    lines("ranks = Ranks()", "pdf['r'] = pdf['x'].map(lambda v: ranks.get(v))", type_="int"),
    lines("ranks = Ranks()", "pdf['r'] = [ranks.get(v) for v in pdf['x']]", type_="int"),
    lines("scaled = Scaled(pdf)", "pdf['r'] = [scaled.get(v) for v in pdf['x']]", type_="double"),
    ("pdf['r'] = pdf['x'].map(numbered)", "int"),
    ("pdf['r'] = [cached(v) for v in pdf['x']]", "int"),
    lines("n = itertools.count()", "pdf['r'] = [next(n) for v in pdf['x']]", type_="int"),
    lines("seen = {}", "pdf['r'] = [seen.setdefault(v, len(seen)) for v in pdf['x']]", type_="int"),
)
_TYPES = (
    ("pdf['r'] = pdf['c'].astype(str)", "string"),
    ("pdf['r'] = (pdf['m'] // pdf['n']).map(str)", "string"),
    ("pdf['r'] = np.floor_divide(pdf['m'], pdf['n']).map(str)", "string"),
    ("pdf['r'] = np.mod(pdf['m'], pdf['n']).map(str)", "string"),
    ("pdf['r'] = pdf['n'].clip(0, 1.5).map(str)", "string"),
    ("pdf['r'] = np.clip(pdf['n'], 0, 1.5).map(str)", "string"),
    ("pdf['r'] = [datetime.date(2024, 1, 1) if v > 0 else np.nan for v in pdf['x']]", "date"),
    ("pdf['r'] = [2**53 + 1 if v > 0 else None for v in pdf['x']]", "double"),
    ("pdf['r'] = [isinstance(v, float) for v in pdf['s'].str.len()]", "boolean"),
    lines("pdf = pdf.astype({'c': str})", "pdf['r'] = pdf['c']", type_="string"),
    lines(
        "pdf['r'] = ['a' if v > 0 else np.nan for v in pdf['x']]",
        "pdf['r'] = pdf['r'] > 'A'",
        type_="boolean",
    ),
    lines(
        "pdf['q'] = pdf['s'].str.len()",
        "pdf = pdf.fillna({'q': 0})",
        "pdf['r'] = [str(v) for v in pdf['q']]",
        type_="string",
    ),
    lines(
        "pdf['q'] = [None if s is None else 1.5 for s in pdf['s']]",
        "pdf['r'] = [row.q is None for row in pdf.itertuples()]",
        type_="boolean",
    ),
    lines(
        "pdf['q'] = [None if s is None else 1.5 for s in pdf['s']]",
        "pdf['r'] = pdf.apply(lambda row: row['q'] is None, axis=1)",
        type_="boolean",
    ),
    lines(
        "pdf['q'] = pdf['c'].astype(str)",
        "pdf['r'] = [row['q'] for row in pdf.to_dict('records')]",
        type_="string",
    ),
    lines(
        "pdf['r'] = [None if s is None else 1.0 for s in pdf['s']]",
        "pdf['r'] = pdf['r'].astype(bool)",
        type_="boolean",
    ),
)
TYPED = (
    ("pdf['r'] = pdf['s'].str.startswith('a') | pdf['n'].isin([0, 1])", "boolean"),
    ("pdf['r'] = pdf['s'].str.startswith('a') | (pdf['n'] > 0)", "boolean"),
    ("pdf['r'] = pdf['s'].str.startswith('a') | (pdf['n'].fillna(0) < 1)", "boolean"),
    lines("big = pdf['n'] > 0", "pdf['r'] = pdf['s'].str.contains('a') | big", type_="boolean"),
    lines(
        "pdf['big'] = pdf['n'] > 0",
        "pdf = pdf[pdf['s'].str.contains('a') | pdf['big']]",
        "pdf['r'] = 'z'",
    ),
    ("pdf['r'] = pdf['x'] <= pdf['n']", "boolean"),
    ("pdf['r'] = pdf['n'].fillna(0) + pdf['x'] != 1.0", "boolean"),
)
"""By themselves only if no integer is NULL: pandas has types of its own for integers beside one."""

TOGETHER = (*_OTHER_ROWS, *_SIDE_BY_SIDE, *_DEFAULTS, *_STATE, *_LENGTHS, *_TYPES)
