"""Tasks in the format of the original MLAgentBench: an ``env/`` folder and a ``scripts/`` folder.

    folder.py      reads such a folder as a `Task`
    paper.py       what the paper's own folders measure, which they do not say themselves
    submission.py  finds out from ``eval.py`` which file is handed in
    prepare.py     the task's preparer: runs the original ``prepare.py`` on a copy of the folder
    baseline.py    measures the starter, for the format states no baseline
    script.py      runs one of the folder's scripts and says why it failed
    score.py       the task's scorer: asks the original ``eval.py``
    speed.py       the scorer of the paper's code-speed task, which believes no reported time
    record.py      what preparing leaves for scoring

``docs/mlagentbench.md`` says how such folders are run, and where they differ from the original.
"""

from pathlib import Path

PROBLEM = "scripts/research_problem.txt"
"""The file that tells such a folder from others, and that its tests are named after."""


def is_mlagentbench(folder: Path) -> bool:
    """Tell whether a folder is in the original's format, whatever else is wrong with it."""
    return (folder / PROBLEM).is_file() and (folder / "env").is_dir()
