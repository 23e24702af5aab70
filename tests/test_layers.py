"""The package's layers: imports point down only, pytest stays on top, and little loads at once."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_mlab

PACKAGE = Path(pytest_mlab.__file__).parent

LAYERS = (
    # What pytest sees: hooks, fixtures, items, outcomes.
    "plugin",
    "scheduling",
    "staging",
    "attempts",
    "resumption",
    "shares",
    "session",
    "budgeting",
    "gating",
    "ordering",
    "watching",
    "pace",
    "outcome",
    "collection",
    "subjects",
    "checks",
    "preparing",
    "benchmark",
    "hookspec",
    "discovery",
    "settings",
    "options",
    "__main__",
    "reporting",
    # One trial, which could run without pytest: from here on down nothing imports it.
    "trial",
    "judgement",
    "world",
    "agents",
    "attacks",
    "environment",
    "checkpoint",
    "llm_actions",
    "actions",
    "workbench",
    "asking",
    "models",
    "llm",
    "mlagentbench",
    "baselines",
    "evaluation",
    "review",
    "scoring",
    "history",
    "snapshot",
    "workspace",
    "repl",
    "sandbox",
    "decoys",
    "integrity",
    "data",
    "concealment",
    "timing",
    "leases",
    "gpu",
    "taskfile",
    "soundness",
    "task",
    "download",
    "packages",
    "submission",
    "tables",
    "budget",
    "allowance",
    "gates",
    "comparison",
    "resuming",
    "runs",
    "activity",
    "planning",
    "curves",
    "steps",
    "results",
    # Tools that know nothing of tasks and trials.
    "children",
    "descendants",
    "process",
    "quota",
    "deadline",
    "trace",
    "files",
    "resources",
    "arrays",
    "prompts",
    "sequential",
    "statistics",
    "permutation",
    "conventions",
    "exceptions",
)
"""Top to bottom; a folder is one layer, within which its modules may import each other."""

HEAVY = (
    *("anthropic", "openai", "sklearn", "numpy", "pandas", "scipy", "rich", "jinja2"),
    *("filelock", "platformdirs", "httpx", "xdist", "genai_prices", "pygit2"),
)

AT_ONCE = {
    "conventions",
    "discovery",
    "exceptions",
    "hookspec",
    "mlagentbench",
    "options",
    "plugin",
}
"""What every session of pytest loads, be there tasks or not."""


def sources() -> Iterator[tuple[str, Path]]:
    """Give every module's layer and file; the bundled tasks of a wheel are no part of the code."""
    for file in sorted(PACKAGE.rglob("*.py")):
        first = file.relative_to(PACKAGE).parts[0]
        if first not in ("tasks", "__init__.py"):
            yield first.removesuffix(".py"), file


def imported(file: Path) -> Iterator[str]:
    """Give what a module imports, wherever in it.

    What is imported for type checkers alone counts too: a type is knowledge of a layer above.
    """
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide where they point to"
            yield node.module or ""
            if node.module == "pytest_mlab":
                yield from (f"pytest_mlab.{alias.name}" for alias in node.names)


def test_every_module_is_in_a_layer() -> None:
    assert {layer for layer, _ in sources()} == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_down_only(layer: str) -> None:
    above = LAYERS[: LAYERS.index(layer)]
    for at, file in sources():
        if at == layer:
            ours = {name for name in imported(file) if name.startswith("pytest_mlab.")}
            targets = {name.split(".")[1] for name in ours}
            assert not targets.intersection(above), f"{file.relative_to(PACKAGE)} points up"


def test_pytest_is_imported_above_the_trial_alone() -> None:
    """A trial and all beneath it can be used, tested and understood without pytest.

    Those above are what speaks pytest's language: its options (settings), path arguments
    (discovery), hooks, collectors, reports and fixtures. benchmark and checks are test modules
    that need nothing of it.
    """
    users = {
        layer
        for layer, file in sources()
        if {name.split(".")[0] for name in imported(file)} & {"pytest", "_pytest", "xdist"}
    }
    assert users < set(LAYERS[: LAYERS.index("trial")])


def loaded_by(code: str, cwd: Path) -> set[str]:
    """Give the modules that a fresh process has loaded after a piece of code."""
    report = "import json, sys; print(); print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "PYTHONPATH": str(PACKAGE.parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import pytest_mlab.plugin",
        "import pytest; assert pytest.main(['-p', 'pytest_mlab.plugin', '-q', '--no-header']) == 0",
    ],
    ids=["import", "a session without tasks"],
)
def test_where_there_are_no_tasks_next_to_nothing_is_loaded(tmp_path: Path, code: str) -> None:
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    modules = loaded_by(code, tmp_path)
    ours = {name.split(".")[1] for name in modules if name.startswith("pytest_mlab.")}
    assert ours == AT_ONCE
    assert not modules.intersection(HEAVY)


def test_a_scorer_loads_nothing_heavy(tmp_path: Path) -> None:
    """Its process is started for every trial."""
    modules = loaded_by("import pytest_mlab.children.score, pytest_mlab.submission", tmp_path)
    ours = {name.split(".")[1] for name in modules if name.startswith("pytest_mlab.")}
    assert ours == {"children", "exceptions", "submission"}
    assert not modules.intersection({*HEAVY, "pytest"})
