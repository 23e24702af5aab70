"""From the trials of a session to the verdict of its gate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_mlab.gates.evidence import Claim, Evidence, Judgement, Look, Verdict
from pytest_mlab.gates.no_worse import ComparisonGate
from pytest_mlab.gates.rate import RateGate
from pytest_mlab.results import ERRORS, Identity, Result

Gate = RateGate | ComparisonGate


@dataclass(frozen=True)
class Trial:
    """A trial of the session's plan: whose it is, where it is at, and its result if it has one.

    It is ``over`` without a result where it was skipped or could not run.
    """

    identity: Identity
    state: Literal["open", "over", "not needed"]
    result: Result | None = None


@dataclass(frozen=True)
class Reference:
    """What an agent and LLM came to before, by task, and the digests that the tasks had then."""

    look: Look
    digests: Mapping[str, frozenset[str]]


References = Mapping[tuple[str, str | None], Reference]
"""By agent and LLM."""


def claim_of(gate: Gate, identity: Identity) -> Claim:
    """Give the claim that a trial is evidence for."""
    return Claim(identity.agent, identity.llm, identity.task if gate.per_task else None)


def judge_trials(
    gate: Gate,
    trials: Iterable[Trial],
    *,
    per_round: int | None = None,
    references: References | None = None,
) -> Verdict:
    """Judge all claims of a gate by the trials so far.

    With ``per_round``, so many trials of each task make a round, and there is a look after each
    that is over; those at which some trials were not needed any more are none. Otherwise there is
    one look, at all trials.
    """
    by_claim: dict[Claim, list[Trial]] = {}
    for trial in trials:
        by_claim.setdefault(claim_of(gate, trial.identity), []).append(trial)
    judgements: dict[Claim, Judgement] = {}
    notes: dict[str, None] = {}
    for claim, group in by_claim.items():
        rounds = _split(group, per_round)
        plan = [{task: look.trials for task, look in each.items()} for each in _add_up(rounds)]
        over = next((i for i, each in enumerate(rounds) if not _is_over(each)), len(rounds))
        looks = _add_up(rounds[:over])
        if isinstance(gate, RateGate):
            judgements[claim] = gate.judge(looks, plan, len(by_claim))
        else:
            reference = find_reference(references or {}, claim, len(by_claim))
            before = _comparable(reference, group, notes)
            judgements[claim] = gate.judge(looks, plan, before, len(by_claim))
    unneeded = sum(trial.state == "not needed" for group in by_claim.values() for trial in group)
    return Verdict(gate.text, judgements, tuple(notes), unneeded)


def store_reference(results: Iterable[Result]) -> References:
    """Sort results of earlier sessions by agent and LLM."""
    looks: dict[tuple[str, str | None], dict[str, Evidence]] = {}
    digests: dict[tuple[str, str | None], dict[str, frozenset[str]]] = {}
    for result in results:
        subject = result.agent, result.llm
        look, found = looks.setdefault(subject, {}), digests.setdefault(subject, {})
        look[result.task] = look.get(result.task, Evidence()) + _evidence(result)
        found[result.task] = found.get(result.task, frozenset()) | {result.task_digest}
    return {subject: Reference(look, digests[subject]) for subject, look in looks.items()}


def find_reference(references: References, claim: Claim, claims: int) -> Reference | None:
    """Find what a claim is compared with: the same agent and LLM, or the only ones there are."""
    if len(references) == claims == 1:
        return next(iter(references.values()))
    return references.get((claim.agent, claim.llm))


def _split(trials: Sequence[Trial], per_round: int | None) -> list[list[Trial]]:
    """Split trials into rounds by their numbers; without, they are all one."""
    if per_round is None:
        return [list(trials)]
    rounds: dict[int, list[Trial]] = {}
    for trial in trials:
        rounds.setdefault((trial.identity.trial - 1) // per_round, []).append(trial)
    return [rounds[number] for number in sorted(rounds)]


def _is_over(trials: Iterable[Trial]) -> bool:
    return all(trial.state == "over" for trial in trials)


def _add_up(rounds: Sequence[Sequence[Trial]]) -> list[dict[str, Evidence]]:
    """Give the evidence of each task after each of the rounds."""
    looks: list[dict[str, Evidence]] = []
    now: dict[str, Evidence] = {}
    for trials in rounds:
        now = dict(now)
        for trial in trials:
            task = trial.identity.task
            now[task] = now.get(task, Evidence()) + _evidence(trial.result)
        looks.append(now)
    return looks


def _evidence(result: Result | None) -> Evidence:
    if result is None or result.status in ERRORS:
        return Evidence(unknown=1)
    return Evidence(successes=1) if result.success else Evidence(misses=1)


def _comparable(
    reference: Reference | None, trials: Sequence[Trial], notes: dict[str, None]
) -> Look:
    """Give what there was before of the tasks that are the same now; note the others."""
    if reference is None:
        return {}
    digests = {trial.identity.task: trial.identity.task_digest for trial in trials}
    kept = {}
    for task, evidence in reference.look.items():
        if task not in digests:
            notes[f"{task} was run then, and not now: left out"] = None
        elif reference.digests[task] != {digests[task]}:
            notes[f"{task} has been changed since: left out"] = None
        else:
            kept[task] = evidence
    for task in sorted(digests.keys() - reference.look.keys()):
        notes[f"{task} was not run then: left out"] = None
    return kept
