"""Options: from the command line or the ini file, checked before anything runs."""

from pathlib import Path

import pytest

from pytest_mlab.exceptions import UsageError
from pytest_mlab.options import OPTIONS, Option, name_session
from pytest_mlab.settings import Settings, read_settings


@pytest.fixture
def read(pytester: pytest.Pytester) -> "Read":
    return Read(pytester)


class Read:
    """Reads the settings of a command line and an ini file."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

    def config(self, *args: str, **ini: str) -> pytest.Config:
        lines = [f"{key} = {value}" for key, value in ini.items()]
        self.pytester.makeini("\n".join(["[pytest]", *lines]))
        return self.pytester.parseconfig(*args)

    def __call__(self, *args: str, **ini: str) -> Settings:
        return read_settings(self.config(*args, **ini))


def test_without_options_the_defaults_hold(read: Read) -> None:
    settings = read()
    assert (settings.agents, settings.llms, settings.trials) == ((), (), 1)
    assert (settings.threshold, settings.seed) == (0.10, 0)
    assert (settings.max_steps, settings.timeout) == (None, None)
    assert (settings.max_tokens, settings.max_cost, settings.budget) == (None, None, None)
    assert (settings.gpus, settings.sandbox) == ("auto", "auto")
    assert (settings.json, settings.html, settings.check) == (None, None, False)


def test_the_command_line_says_otherwise(read: Read) -> None:
    settings = read(
        *("--mlab-agent=baseline", "--mlab-agent=hillclimb", "--mlab-agent=baseline"),
        *("--mlab-llm=gpt-4", "--mlab-trials=8", "--mlab-threshold=0.2", "--mlab-seed=5"),
        *("--mlab-max-steps=9", "--mlab-timeout=1.5", "--mlab-max-tokens=100"),
        *("--mlab-max-cost=0.5", "--mlab-gpus=0,1", "--mlab-sandbox=none", "--mlab-check"),
    )
    assert settings.agents == ("baseline", "hillclimb")
    assert settings.llms == ("gpt-4",)
    assert (settings.trials, settings.threshold, settings.seed) == (8, 0.2, 5)
    assert (settings.max_steps, settings.timeout, settings.max_tokens) == (9, 1.5, 100)
    assert (settings.max_cost, settings.gpus, settings.sandbox) == (0.5, "0,1", "none")
    assert settings.check


def test_the_ini_file_pins_what_the_command_line_leaves_open(read: Read) -> None:
    ini = {"mlab_trials": "4", "mlab_agent": "baseline solution", "mlab_threshold": "0.3"}
    assert read(**ini).trials == 4
    assert read(**ini).agents == ("baseline", "solution")
    settings = read("--mlab-trials=2", "--mlab-agent=hillclimb", **ini)
    assert (settings.trials, settings.agents, settings.threshold) == (2, ("hillclimb",), 0.3)


@pytest.mark.parametrize("option", [o for o in OPTIONS if o.ini], ids=lambda option: option.flag)
def test_every_option_has_its_twin_in_the_ini_file(read: Read, option: Option) -> None:
    value = read.config(**{option.name: "7"}).getini(option.name)
    assert value == (["7"] if option.many else "7")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--mlab-trials=0", "--mlab-trials: 0 is not a whole number above 0"),
        ("--mlab-trials=-3", "--mlab-trials: -3 is not a whole number above 0"),
        ("--mlab-trials=two", '--mlab-trials: "two" is not a whole number'),
        ("--mlab-trials=1.5", '--mlab-trials: "1.5" is not a whole number'),
        ("--mlab-threshold=much", '--mlab-threshold: "much" is not a number'),
        ("--mlab-threshold=-0.1", "--mlab-threshold: -0.1 is not a number of at least 0"),
        ("--mlab-threshold=nan", "--mlab-threshold: nan is not a number of at least 0"),
        ("--mlab-max-steps=0", "--mlab-max-steps: 0 is not a whole number above 0"),
        ("--mlab-timeout=0", "--mlab-timeout: 0 is not a number above 0"),
        ("--mlab-timeout=inf", "--mlab-timeout: inf is not a number above 0"),
        ("--mlab-max-tokens=many", '--mlab-max-tokens: "many" is not a whole number'),
        ("--mlab-max-cost=-1", "--mlab-max-cost: -1 is not a number above 0"),
        ("--mlab-seed=a", '--mlab-seed: "a" is not a whole number'),
        ("--mlab-gpus=first", '--mlab-gpus: "first" is not auto, none or ids of devices'),
    ],
)
def test_a_wrong_value_is_refused_with_the_option_and_what_it_takes(
    read: Read, option: str, message: str
) -> None:
    with pytest.raises(UsageError) as error:
        read(option)
    assert str(error.value).startswith(message)


def test_a_threshold_of_zero_and_a_negative_seed_are_fine(read: Read) -> None:
    settings = read("--mlab-threshold=0", "--mlab-seed=-1")
    assert (settings.threshold, settings.seed) == (0.0, -1)


def test_a_path_is_seen_from_where_it_is_named(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    root = read.pytester.path
    below = read.pytester.mkdir("below")
    assert read(mlab_json="out.json").json == root / "out.json"
    monkeypatch.chdir(below)
    assert read("--mlab-json=out.json").json == below / "out.json"


def test_sessions_get_folders_of_their_own(read: Read) -> None:
    config = read.config()
    names = {name_session(config) for _ in range(5)}
    assert len(names) == 5
    assert {Path(name).parent for name in names} == {Path(".mlab")}
    outside = read.pytester.path.parent / "records"
    assert Path(name_session(read.config(f"--mlab-results={outside}"))).parent == outside


def test_the_help_lists_every_option(pytester: pytest.Pytester) -> None:
    outcome = pytester.runpytest_subprocess("--help")
    text = outcome.stdout.str()
    assert "ML agent benchmark:" in text
    for option in OPTIONS:
        assert option.flag in text
