"""Functions with ``try`` and ``except``, and texts that are read as numbers."""

# mypy: ignore-errors

from __future__ import annotations

import math

import pandas as pd

CODES = {"a": 1, "7": 2}


def ratio(x, y):
    try:
        return x / y
    except (ZeroDivisionError, TypeError):
        return -1.0


def which(x, y):
    try:
        if x / y > 1.0:
            return "more"
    except ZeroDivisionError:
        return "zero"
    except TypeError:
        return "none"
    return "less"


def so_far(x, y):
    """What the body has assigned before it raises stays."""
    v = 0.0
    try:
        v = x * 2.0
        v = v / y
    except TypeError:
        pass
    except ZeroDivisionError:
        v = v + 1.0
    return v


def nested(x, y):
    v = 5.0
    try:
        try:
            v = x / y
        except TypeError:
            raise ValueError("no number") from None
        else:
            v = math.sqrt(v)
    except ValueError:
        return -1.0
    except Exception:
        return -2.0
    return v


def divided(x, y):
    if x is None:
        raise KeyError("x")
    return x / y


def helped(x, y):
    try:
        return divided(x, y)
    except KeyError:
        return -1.0
    except (ArithmeticError, TypeError):
        return None


def whole(x):
    try:
        return 1 if int(x) > 5 else 0
    except OverflowError:
        return -1
    except ValueError:
        return -2
    except TypeError:
        return None


def noted(s):
    try:
        return CODES[s]
    except (KeyError, TypeError) as error:
        print("no code:", error, str(error), f"{error} of {s}", type(error).__name__)
        return 0


def looked_up(s):
    try:
        return CODES[s]
    except KeyError:
        return 0


def second(s):
    try:
        return s.split("-")[1]
    except IndexError:
        return "alone"
    except AttributeError:
        return None


def again(x, y):
    """The handler raises what is caught by nobody, but for rows that are dropped below."""
    try:
        return x / y
    except TypeError:
        return None
    except ZeroDivisionError:
        raise


def to_amount(s, x):
    if s is None or s.strip() == "":
        return None
    try:
        v = float(s)
    except ValueError:
        return None
    if x is None or not x > 1.0:
        return None
    return v * x


def to_number(s, x):
    try:
        n = int(s)
    except (TypeError, ValueError):
        return "bad"
    if x is not None and x > 1.0:
        return "big" if n > 5 else "small"
    return "other"


def of_digits(s):
    if s is None or not s.isdigit():
        return -1
    try:
        return int(s) % 1000
    except ValueError:  # a digit, but no decimal one
        return -2


def of_letters(s):
    return s is not None and s.isalpha() and not s.islower()


def counted(pdf: pd.DataFrame) -> pd.DataFrame:
    most, bad = -1.0, 0
    for row in pdf.itertuples(index=False):
        try:
            v = float(row.s)
            if v > most:
                most = v
        except (ValueError, TypeError):
            bad = 1
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "most": [most], "bad": [bad]})


def best_code(pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0
    for row in pdf.itertuples(index=False):
        try:
            v = CODES[row.s]
        except KeyError:
            continue
        if v > best:
            best = v
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "best": [best]})


# --- not read ---------------------------------------------------------------------------------


def looks_at_the_error(x):
    try:
        return 1.0 / x
    except ZeroDivisionError as error:
        return float(len(str(error)))


def with_finally(x):
    v = 1.0
    try:
        v = 1.0 / x
    except ZeroDivisionError:
        v = 2.0
    finally:
        v = v + 1.0
    return v


def of_unknown_errors(x):
    try:
        return float(format(x, ".2f"))
    except ValueError:
        return 0.0


def of_another_class(x):
    chosen = ZeroDivisionError
    try:
        return 1.0 / x
    except chosen:
        return 0.0


def with_a_message(s):
    """What the message does may raise something else."""
    try:
        raise ValueError(s[3])
    except IndexError:
        return 0.0
    except ValueError:
        return 1.0


def raises_a_subclass(x):
    """``OSError`` makes an error of another class."""
    try:
        if x > 0.0:
            raise OSError(2, "no file")
    except FileNotFoundError:
        return 1.0
    except OSError:
        return 0.0
    return 0.0


def wants_arguments(x):
    """Making the error raises another one."""
    try:
        if x > 0.0:
            raise UnicodeDecodeError("utf-8")
    except UnicodeError:
        return 0.0
    except TypeError:
        return 1.0
    return 0.0
