"""What the harness and the authors of tasks agree on; imports nothing, and all may import it."""

FILE = "task.toml"
"""The file that makes a folder a task."""

FORMAT = "mlab/1"
"""What it says of itself: other tools name files so too."""

THRESHOLD = 0.10
"""The improvement over the baseline that a success has to exceed (the paper's)."""

INTERVAL = 60.0
"""Seconds between two reports of progress in a log."""
