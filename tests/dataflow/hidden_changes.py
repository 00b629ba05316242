"""Statements that change something where it is easily overlooked.

``BETWEEN_BATCHES`` stand in a loop over batches, after the set-up before it, and make the rows of a
batch depend on other batches or rows. ``WHOLE`` are whole functions of batches of that kind.
``KEYS`` change the column ``k`` of the table of a group. ``OUTSIDE`` change something that exists
before the function is called.
"""

from __future__ import annotations

HELPERS = """
import collections, itertools, json, operator, string, types
import numpy as np
import pandas as pd

LOG = []
ARRAY = np.array([3.0, 2.0, 1.0])
LIST = []
MISSING = collections.defaultdict(list)
CHAIN = collections.ChainMap(MISSING)


def act(*args):
    LOG.append(1)
    return 1


class Plain:
    pass


class Descriptor:
    def __set__(self, owner, value):
        LOG.append(value)


class Described:
    d = Descriptor()


class Meta(type):
    @property
    def x(cls):
        LOG.append(1)
        return 1

    def __instancecheck__(cls, value):
        LOG.append(1)
        return False


class Recording(dict):
    def __init__(self, *args):
        LOG.append(1)
        super().__init__(*args)


class OfMeta(metaclass=Meta):
    pass


FLAG = len(LOG) > 5


def made(flag):
    if flag:
        return []
    return 5


def made_dict(flag):
    if flag:
        return {}
    return 5
"""

_ARRAY = "w = np.array([2.0, 1.0])"
_USE = "pdf['r'] = pdf['x'] * w[0] + w[1]"

BETWEEN_BATCHES = [
    *(
        (_ARRAY, f"{_USE}; {change}")
        for change in (
            "np.add.at(w, 0, 3)",
            "np.multiply.at(w, 0, 3)",
            "at = np.add.at; at(w, 0, 1)",
            "np.ndarray.sort(w)",
            "np.ndarray.fill(w, 5)",
            "np.ndarray.partition(w, 1)",
            "np.put_along_axis(w, np.array([0]), 5, 0)",
            "np.core.multiarray.copyto(w, 3)",
            "np.cumsum(w, 0, None, w)",
            "w.partition(1)",
            "g = w.partition; g(1)",
            "(lambda a: a.partition(1))(w)",
            "[a.partition(1) for a in [w]]",
            "w.clip(0, 1, w)",
            "w.cumsum(0, None, w)",
            "w.take([1, 0], 0, w)",
            "np.median(w, None, None, True)",
            "np.percentile(w, 50, None, None, True)",
            "w.astype(float, copy=False)[0] = 5",
            "w.astype('float64', 'K', 'unsafe', True, False)[0] = 5",
            "[0 for w[0] in (5.0,)]",
            "{0 for w[0] in (5.0,)}",
        )
    ),
    ("w = np.array([2.5, 1.5])", f"{_USE}; w.round(0, w)"),
    ("w = np.array([np.nan, 1.0])", f"{_USE}; np.nan_to_num(w, False, 5.0)"),
    ("w = np.array([np.nan, 1.0])", f"{_USE}; np.nan_to_num(w, copy=False)"),
    ("y = 2", "pdf['r'] = pdf['x'] * y\ndef f(a=(y := 3)): pass"),
    ("y = 2", "pdf['r'] = pdf['x'] * y; f = lambda a=(y := 3): 1"),
    ("w = np.array([1.0])", "pdf['r'] = pdf['x'] * w[0]\ndef f(a: w.fill(3.0)): pass"),
    ("w = np.array([1.0])", "pdf['r'] = pdf['x'] * w[0]\ndef f() -> w.fill(3.0): pass"),
    ("n = [1.0, 2.0]", "pdf['r'] = pdf['x'] * n[0]; q = f'{1:{n.reverse() or 1}}'"),
    ("n = [1.0, 2.0]", "pdf['r'] = pdf['x'] * n[0]; q = f'{1:{n.insert(0, 5.0) or 1}}'"),
    (
        "def len(t): return [v for v in t['x'] if v > 1]",
        "pdf['r'] = pdf['x']\nif not len(pdf): continue",
    ),
    (
        "len = lambda t: t[t['x'] > 1].to_dict('records')",
        "pdf['r'] = pdf['x']\nif not len(pdf): continue",
    ),
    (
        "",
        "v = pdf['x'].to_numpy(copy=True); u = v.astype('float64', copy=False); u[0] = 3"
        "\npdf['r'] = v",
    ),
    ("", "v = pdf['x'].to_numpy(copy=True); u = v.copy(); v.clip(0, 9, u); u[0] = 3; pdf['r'] = u"),
    ("", "pdf['r'] = pdf['x']; pdf['r'].astype(float, copy=False).values[0] = 3"),
    *(
        ("", f"u = {shared}.values; u[0] = 5.0; pdf['r'] = pdf['x']")
        for shared in (
            "pdf.astype({'x': float}, copy=False)['x']",
            "pd.concat([pdf], copy=False)['x']",
            "pdf['x'].clip()",
            "pdf.copy(deep=False)['x']",
            "pdf['x'].copy(False)",
            "pdf.rename(columns={'s': 'q'}, copy=False)['x']",
            "pdf['x'].infer_objects(copy=False)",
            "pdf.infer_objects(copy=False)['x']",
            "pd.Series(pdf['x'])",
            "pd.DataFrame(pdf)['x']",
            "pd.DataFrame({'z': pdf['x']}, copy=False)['z']",
            "pdf.loc[:, 'x']",
            "pdf.get('x')",
        )
    ),
    ("", "v = pdf['x'].to_numpy(copy=True); [0 for v[0] in (5.0,)]; pdf['r'] = v"),
    ("", "q = json.loads('[]'); q.append(pdf); pdf['r'] = pdf['x']; q[0]['r'] = len(pdf)"),
]

WHOLE = [
    """
def function(batches):
    for pdf in batches:
        pdf['r'] = pdf['x']
    yield pdf[['k', 'r']]
""",
    """
def function(batches):
    for pdf in batches:
        pdf['r'] = pdf['x']
    else:
        yield pdf[['k', 'r']]
""",
    """
def function(batches):
    for pdf in batches:
        pdf['r'] = pdf['x']
        q = pdf[pdf['x'] > 1][['k', 'r']]
        if q.empty:
            continue
    yield q
""",
    """
def function(batches):
    for pdf in batches:
        pdf['r'] = pdf['x']
        yield pdf[['k', 'r']]
        for q in batches:
            pass
""",
    """
def function(batches):
    for pdf in batches:
        pdf['r'] = pdf['x']
        yield pdf[['k', 'r']]
        for z in (1,):
            pass
        else:
            break
""",
    """
def function(batches):
    for q in batches:
        break
    for pdf in batches:
        pdf['r'] = pdf['x']
        yield pdf[['k', 'r']]
""",
]

KEYS = [
    "np.add.at(pdf['k'].values, 0, 1)",
    "np.ndarray.fill(pdf['k'].values, 9)",
    "np.put_along_axis(pdf['k'].values, np.array([0]), 5, 0)",
    "pdf['k'].values.clip(5, 9, pdf['k'].values)",
    "q = np.array(pdf['k']); q.clip(7, 9, q); pdf['k'] = q",
    "pdf['k'].astype('int64', copy=False).values[0] = 5",
    "q = json.loads('[]'); q.append(pdf); q[0]['k'] = 5",
]

OUTSIDE = [
    "np.add.at(ARRAY, 0, 3)",
    "ARRAY.partition(1)",
    "np.ndarray.fill(ARRAY, 5)",
    "ARRAY.clip(0, 1, ARRAY)",
    "ARRAY.cumsum(0, None, ARRAY)",
    "np.put_along_axis(ARRAY, np.array([0]), 5, 0)",
    "def z(a=LIST.append(5)): pass",
    "q = lambda a=LIST.append(5): 1",
    "q = lambda *, a=act(): 1",
    "def z(a: act()): pass",
    "def z() -> act(): pass",
    "q = f'{1:{act() or 1}}'",
    "q = [] if FLAG else 5; q = made(True); q.append(ARRAY); z = q[0]; z[0] = 9",
    "q = made_dict(True); q['m'] = ARRAY; q['m'][0] = 9",
    "q = made_dict(True); q['m'] = ARRAY; q.get('m')[0] = 9",
    "q = json.loads('[]'); q.append(ARRAY); z = q[0]; z[0] = 9",
    "q = json.loads('[]'); q.append([ARRAY]); z = q[0]; z[0][0] = 9",
    "q = made(True); q.append({'a': ARRAY}); q[0]['a'].fill(9)",
    "pd.Series([act])[0]()",
    "pd.Series([act]).map(lambda z: z())",
    "collections.deque([act]).pop()()",
    "collections.OrderedDict(m=act)['m']()",
    "MISSING['zz']",
    "[MISSING[s] for s in pdf['s']]",
    "pdf['s'].map(lambda s: MISSING[s])",
    "CHAIN['q']",
    "'%(zz)s' % MISSING",
    "'{0[zz]}'.format(MISSING)",
    "'{zz}'.format_map(MISSING)",
    "string.Template('$zz').substitute(MISSING)",
    "pdf['s'].map(MISSING)",
    "operator.itemgetter(0)(MISSING)",
    "collections.defaultdict(act)['a']",
    "collections.defaultdict(lambda: LIST.append(1))['a']",
    "type.__setattr__(Plain, 'a', 5)",
    "Described().d = 5",
    "OfMeta.x",
    "isinstance(5, OfMeta)",
    "pdf.query('x > @act()')",
    "pdf.eval('x + @act()')",
    "pdf.pipe((lambda a, t: act(), 't'), 1)",
    "operator.methodcaller('append', 1)(LIST)",
    "match {'a': 1}:\n    case {'a': OfMeta.x}: pass",
    "pdf.to_dict(into=Recording)",
]
