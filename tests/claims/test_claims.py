"""Claims of the texts: each stands in its text, and a predicate tries to refute it; a false sentence is refuted."""

from math import prod

import pytest
import torch
from hypothesis import settings
from torch import nn

from tests.claims.predicates import TWIN, load
from tests.support.needs import needs_half
from tools.claims import claims, main, text_of

pytestmark = pytest.mark.rule(
    "A general sentence is a part of its text and has a predicate: CONTRIBUTING.md, Claims; make claims lists them"
)
CLAIMS, PREDICATES = tuple(claims()), load()
EXAMPLES = max(1, settings().max_examples // 3)
TWINS = [(name, sentence) for name, predicate in PREDICATES.items() if predicate.needs for sentence in predicate.false]


def test_claims_are_in_their_text():
    """A claim whose text has changed: look whether its predicate says the same as the new sentence."""
    texts = {claim.file: text_of(claim.file) for claim in CLAIMS}
    assert [(claim.file, claim.sentence) for claim in CLAIMS if claim.sentence not in texts[claim.file]] == []


def test_every_claim_has_a_predicate_or_a_source_and_no_predicate_is_unused():
    named = {claim.name for claim in CLAIMS if not claim.has_source}
    assert (named - {*PREDICATES}, {*PREDICATES} - named) == (set(), set())


@pytest.mark.parametrize("name", [name for name, predicate in PREDICATES.items() if predicate.needs])
def test_no_example_refutes(name):
    PREDICATES[name].attempt(settings(max_examples=EXAMPLES))


@pytest.mark.parametrize(("name", "sentence"), TWINS)
def test_a_false_sentence_is_refuted(name, sentence):
    with pytest.raises(AssertionError):
        PREDICATES[name].attempt(TWIN, **PREDICATES[name].false[sentence])


# What a general predicate draws. A twin is false in one of these cases only: there, the layer's output depends on all of x.
CASES = {
    "in float32": lambda layer, x: x.dtype == torch.float32,
    "in float16": lambda layer, x: x.dtype == torch.float16,
    "in bfloat16": lambda layer, x: x.dtype == torch.bfloat16,
    "with large numbers of half precision": lambda layer, x: x.dtype.itemsize == 2 and bool(x.abs().max() > 1000),
    "with eps=1": lambda layer, x: layer.eps == 1,
    "with eps=0": lambda layer, x: layer.eps == 0,
    "in eval mode": lambda layer, x: not layer.training,
    "without running statistics": lambda layer, x: getattr(layer, "track_running_stats", True) is False,
    "in channels_last": lambda layer, x: not x.is_contiguous(),
    "of one element": lambda layer, x: prod(getattr(layer, "normalized_shape", (2,))) == 1,
    "without gamma": lambda layer, x: layer.weight is None,
}
DRAWN = {
    "means_times_elements_are_all_elements": {"with eps=0"},
    "layers_that_subtract_a_mean_are_one_formula": {"with eps=0", "without gamma"},
    "eps_is_added_to_the_variance": {"of one element", "with eps=0"},
    "the_gradient_of_gamma_sums_over_the_elements_that_use_it": {"with eps=0", "without gamma"},
    "a_change_moves_its_group_but_with_running_statistics": {"of one element", "without gamma"},
}  # general predicates, and the cases that they do not draw


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, marks=needs_half if case == "in float16" else ())
        for name in DRAWN
        for case in CASES
        if case not in DRAWN[name]
    ],
)
def test_a_sentence_that_is_false_in_one_case_is_refuted(name, case, monkeypatch):
    right, is_case = nn.Module.__call__, CASES[case]
    wrong = lambda layer, x: right(layer, x) + x.mean() if is_case(layer, x) else right(layer, x)  # noqa: E731
    monkeypatch.setattr(nn.Module, "__call__", wrong)
    with pytest.raises(AssertionError):
        PREDICATES[name].attempt(TWIN)


def test_every_predicate_has_a_false_twin_and_says_what_it_asserts():
    assert [name for name, one in PREDICATES.items() if not (one.false and one.states and one.subject)] == []


def test_the_list_has_every_claim_below_its_predicate(capsys):
    main()
    lines = capsys.readouterr().out.splitlines()
    below = ""
    for line in lines:
        if line.startswith("    "):
            assert next(
                claim for claim in CLAIMS if line == f"    {claim.file}: {claim.sentence}" and claim.name == below
            )
        elif line.startswith("  "):
            below = line.strip().partition(":")[0]
    assert sum(line.startswith("    ") for line in lines) == len(CLAIMS)
