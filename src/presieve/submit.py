"""Untrusted. The command ``presieve`` as a file for ``spark-submit``, which takes a file for Python
by the end of its name. ``python -m presieve.submit`` prints where it is.
"""

import sys

if __name__ == "__main__":
    if __spec__ is None:  # started as a file, or as a copy of it
        from presieve.cli import main

        sys.exit(main())
    print(__file__)
