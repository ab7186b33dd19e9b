"""The accessibility conformance report: OpenACR's schema (github.com/GSA/openacr, public domain), the criteria of its catalog, and tests that exist."""

import json
import re
from pathlib import Path

import pytest
import yaml

from normviz.__version__ import __version__
from tests.project.docs.pages import ROOT

REPORT = yaml.safe_load((ROOT / "docs" / "accessibility.openacr.yaml").read_text(encoding="utf-8"))
# The criteria of the catalog 2.5-edition-wcag-2.2-508-en.
CRITERIA = {
    "success_criteria_level_a": "1.1.1 1.2.1 1.2.2 1.2.3 1.3.1 1.3.2 1.3.3 1.4.1 1.4.2 2.1.1 2.1.2 2.1.4 2.2.1 2.2.2 2.3.1 2.4.1 2.4.2 2.4.3 2.4.4 2.5.1 2.5.2 2.5.3 2.5.4 3.1.1 3.2.1 3.2.2 3.2.6 3.3.1 3.3.2 3.3.7 4.1.1 4.1.2",
    "success_criteria_level_aa": "1.2.4 1.2.5 1.3.4 1.3.5 1.4.3 1.4.4 1.4.5 1.4.10 1.4.11 1.4.12 1.4.13 2.4.5 2.4.6 2.4.7 2.4.11 2.5.7 2.5.8 3.1.2 3.2.3 3.2.4 3.3.3 3.3.4 3.3.8 4.1.3",
    "functional_performance_criteria": "302.1 302.2 302.3 302.4 302.5 302.6 302.7 302.8 302.9",
    "support_documentation_and_services": "602.2 602.3 602.4 603.2 603.3",
}  # fmt: skip
LEVELS = {
    "supports",
    "partially-supports",
    "does-not-support",
    "not-applicable",
}  # "not-evaluated" is for level AAA alone
ADHERENCES = [
    (one["num"], component["name"], component["adherence"])
    for chapter in CRITERIA
    for one in REPORT["chapters"][chapter]["criteria"]
    for component in one["components"]
]


def test_it_follows_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(Path(__file__).with_name("openacr-0.1.0.json").read_text(encoding="utf-8"))
    jsonschema.validate(REPORT, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(REPORT | {"version": "1"}, schema)
    assert REPORT["product"]["version"] == __version__


@pytest.mark.parametrize("chapter", CRITERIA)
def test_each_criterion_has_one_of_the_levels_and_a_remark(chapter):
    assert " ".join(one["num"] for one in REPORT["chapters"][chapter]["criteria"]) == CRITERIA[chapter]
    others = {name for name, one in REPORT["chapters"].items() if one.get("disabled")}
    assert others == {*REPORT["chapters"]} - {*CRITERIA}
    for number, component, adherence in ADHERENCES:
        assert adherence["level"] in LEVELS, number
        assert adherence["notes"].strip(), number
        assert component == ("web" if re.match(r"\d\.", number) else "none")


def test_the_tests_that_it_names_exist():
    named = set(re.findall(r"tests/[\w/.]+\.py", str(REPORT)))
    assert len(named) >= 4
    assert not [name for name in named if not (ROOT / name).is_file()]


def test_nothing_is_supported_in_full_that_only_a_person_can_tell():
    """Of the criteria on people, those on sight, hands and words have been tried by machines alone."""
    levels = {number: adherence for number, _component, adherence in ADHERENCES}
    for number in ("302.1", "302.2", "302.7", "302.8", "302.9"):
        assert levels[number]["level"] == "partially-supports"
        assert re.search("[Nn]o (person|reader)", levels[number]["notes"])
