"""Options on the command line and in the ini file; whatever is wrong with them is said at once."""

import json

import pytest

from tests.projects import Project, nodeid


@pytest.fixture
def cut(project: Project) -> Project:
    """A project with one task."""
    project.task("cut")
    return project


def test_the_ini_file_says_the_same_as_the_command_line(cut: Project) -> None:
    cut.write(
        "pytest.ini",
        "[pytest]\n"
        "mlab_agent = solution agents:Tuner\n"
        "mlab_trials = 2\n"
        "mlab_threshold = 0.5\n"
        "mlab_max_steps = 9\n"
        "mlab_seed = 3\n"
        "mlab_sandbox = none\n"
        "mlab_gpus = none\n"
        "mlab_results = records\n"
        "mlab_json = out/results.json\n",
    )
    run = cut.run("tasks")
    run.assert_outcomes(failed=4)
    run.stdout.fnmatch_lines(["mlab: sandbox none, GPUs none, records in records/*"])
    document = json.loads((cut.path / "out/results.json").read_text())
    assert {record["threshold"] for record in document["results"]} == {0.5}
    assert (cut.path / "records").is_dir()
    assert not (cut.path / ".mlab").exists()
    ini = [record["seed"] for record in document["results"]]
    args = ["--mlab-agent=solution", "--mlab-threshold=0.1", "--mlab-trials=1", "--mlab-seed=4"]
    cut.run("tasks", *args, "--mlab-json=again.json").assert_outcomes(passed=1)
    document = json.loads((cut.path / "again.json").read_text())
    (record,) = document["results"]
    assert record["seed"] not in ini


def test_paths_on_the_command_line_are_seen_from_where_it_is(
    cut: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut.write("pytest.ini", "[pytest]\nmlab_json = by-ini.json\n")
    (cut.path / "sub").mkdir()
    monkeypatch.chdir(cut.path / "sub")
    args = ["../tasks", "--mlab-agent=solution", "--mlab-sandbox=none"]
    cut.run(*args).assert_outcomes(passed=1)
    assert (cut.path / "by-ini.json").exists()
    cut.run(*args, "--mlab-json=x.json", "--mlab-results=records").assert_outcomes(passed=1)
    assert (cut.path / "sub/x.json").exists()
    assert len(list((cut.path / "sub/records").glob("*/results.json"))) == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--mlab-trials=0", "--mlab-trials: 0 is not a whole number above 0"),
        ("--mlab-trials=two", '--mlab-trials: "two" is not a whole number'),
        ("--mlab-threshold=10%", '--mlab-threshold: "10%" is not a number'),
        ("--mlab-threshold=nan", "--mlab-threshold: nan is not a number of at least 0"),
        ("--mlab-max-steps=-1", "--mlab-max-steps: -1 is not a whole number above 0"),
        ("--mlab-timeout=0", "--mlab-timeout: 0 is not a number above 0"),
        ("--mlab-timeout=5h", '--mlab-timeout: "5h" is not a number'),
        ("--mlab-max-cost=inf", "--mlab-max-cost: inf is not a number above 0"),
        ("--mlab-seed=1.5", '--mlab-seed: "1.5" is not a whole number'),
        ("--mlab-gpus=al", '--mlab-gpus: "al" is not auto, none or ids of devices such as 0,1'),
        ("--mlab-sandbox=brwap", 'there is no sandbox "brwap"; choose one of auto, bwrap, *'),
        ("--mlab-tasks=taks", "--mlab-tasks (ini: mlab_tasks): there is no folder *"),
        ("--mlab-json=.", "--mlab-json *: is a folder; name a file"),
        ("--mlab-agent=solutoin", 'there is no agent "solutoin"; did you mean "solution"? *'),
        ("--mlab-agent=mine", 'there is no agent "mine"; there are: baseline, *hillclimb, *'),
        (
            "--mlab-agent=no.where:X",
            'agent "no.where:X" cannot be loaded: ModuleNotFoundError: No module *',
        ),
        ("--mlab-agent=agents:Tunr", 'agent "agents:Tunr" cannot be loaded: * has no attribute *'),
        ("--mlab-agent=agents:NOT_AN_AGENT", 'agent "*" is a int; it needs run(environment)'),
        ("--mlab-agent=broken:run", 'agent "broken:run" cannot be loaded: *division by zero*'),
        ("--mlab-agent=picky:Agent", 'agent "picky:Agent" cannot be made *temperature*'),
    ],
)
def test_a_wrong_value_is_one_message(cut: Project, option: str, message: str) -> None:
    cut.write("broken.py", "1 / 0\n")
    cut.write("picky.py", "class Agent:\n    def __init__(self, temperature): ...\n")
    said = cut.refuse("tasks", option)
    pytest.LineMatcher([said]).fnmatch_lines([message.replace("[", "[[]")])
    assert not (cut.path / ".mlab").exists()


def test_a_wrong_value_in_the_ini_file_is_the_same_message(cut: Project) -> None:
    cut.write("pytest.ini", "[pytest]\nmlab_trials = many\nmlab_tasks = tasks\n")
    assert cut.refuse() == '--mlab-trials: "many" is not a whole number'


def test_an_agent_that_comes_with_a_package_is_known_by_its_name(cut: Project) -> None:
    cut.write(
        "tuner-1.0.dist-info/entry_points.txt", "[pytest_mlab.agents]\ntuner = agents:Tuner\n"
    )
    cut.write("tuner-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tuner\nVersion: 1.0\n")
    cut.run("tasks", "--mlab-agent=tuner").assert_outcomes(passed=1)
    assert list(cut.results()) == [nodeid("cut", "tuner")]
    assert 'did you mean "tuner"?' in cut.refuse("tasks", "--mlab-agent=tunr")
