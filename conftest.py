"""Lets pytest run here from a bare checkout, where no entry point tells it of the plugin."""

import sys

# Only there: a session elsewhere, running the tasks of an editable installation, meets this file
# below its own root, and pytest forbids the name in such a place.
if "pytest_mlab.plugin" not in sys.modules:
    pytest_plugins = ["pytest_mlab.plugin"]
