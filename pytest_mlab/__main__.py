"""``python -m pytest_mlab`` is the command ``pytest-mlab``."""

import sys

from pytest_mlab.reporting.cli import main

if __name__ == "__main__":
    sys.exit(main())
