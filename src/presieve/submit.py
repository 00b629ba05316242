"""Untrusted. The command ``presieve`` as a file for ``spark-submit``, which takes a file for Python
by the end of its name. Without arguments it prints where it is.
"""

import sys

if __name__ == "__main__":
    if len(sys.argv) > 1:
        from presieve.cli import main

        sys.exit(main())
    print(__file__)
