"""Claims of the texts: each stands in its text, and a predicate tries to refute it; a false sentence is refuted."""

import pytest
from hypothesis import settings

from tests.claims.predicates import TWIN, load
from tools.claims import claims, main, text_of

pytestmark = pytest.mark.rule(
    "A general sentence is a part of its text and has a predicate: CONTRIBUTING.md, Claims; make claims lists them"
)
CLAIMS, PREDICATES = tuple(claims()), load()
EXAMPLES = max(1, settings().max_examples // 3)
TWINS = [(name, sentence) for name, predicate in PREDICATES.items() if predicate.needs for sentence in predicate.false]


@pytest.mark.parametrize("file", sorted({claim.file for claim in CLAIMS}))
def test_claims_are_in_their_text(file):
    """A claim whose text has changed: look whether its predicate says the same as the new sentence."""
    assert [claim.sentence for claim in CLAIMS if claim.file == file and claim.sentence not in text_of(file)] == []


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
