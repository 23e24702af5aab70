"""Earlier rounds come before later ones, and with --lf what broke down before what missed."""

from tests.projects import Project

AGENT = """
from pytest_mlab.exceptions import InfraError


def fail(environment):
    if environment.task.name.startswith("down"):
        raise InfraError("the provider is down")
"""


def test_lf_runs_what_failed_alone_and_what_broke_down_first(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    for name in ("alpha", "beta", "down1", "down2"):
        project.task(name)
    project.write("failing.py", AGENT)
    project.write("test_own.py", "def test_own():\n    pass\n")
    options = ("tasks", "test_own.py", *plugin_args)
    project.run(*options, "--mlab-agent=failing:fail").assert_outcomes(failed=2, errors=2, passed=1)

    again = project.run(*options, "--mlab-agent=failing:fail", "--lf")

    again.assert_outcomes(failed=2, errors=2)
    order = [result.task for result in project.results().values()]
    assert order[0].startswith("down")
    if "-n2" not in plugin_args:  # whose workers may end in any order
        assert order == ["down1", "down2", "alpha", "beta"]


def test_what_no_longer_breaks_down_is_no_longer_first(project: Project) -> None:
    for name in ("alpha", "down"):
        project.task(name)
    project.write("failing.py", AGENT)
    project.run("tasks", "--mlab-agent=failing:fail", "-p", "no:xdist")
    project.write("failing.py", "def fail(environment):\n    pass\n")

    for expected in (["down", "alpha"], ["alpha", "down"]):
        project.run("tasks", "--mlab-agent=failing:fail", "--lf", "-p", "no:xdist")
        assert [result.task for result in project.results().values()] == expected


def test_a_round_is_over_before_the_next_begins(project: Project) -> None:
    for name in ("alpha", "beta"):
        project.task(name)

    collected = project.collect(
        "tasks", "--mlab-agent=baseline", "--mlab-gate=rate>=.5", "--mlab-gate-max-trials=3"
    )

    trials = [nodeid.partition("[")[2].removesuffix("]") for nodeid in collected]
    assert trials == [
        f"{task}-baseline-trial{number}" for number in (1, 2, 3) for task in ("alpha", "beta")
    ]
