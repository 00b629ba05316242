
import os

LIMIT = float(os.environ.get("LIMIT", "90"))


class Best:
    def zero(self):
        return None

    def reduce(self, acc, row):
        if row["v"] <= LIMIT:
            return acc
        return row["v"] if acc is None or row["v"] > acc else acc
