"""docs/limits.md lists the limits, and docs/security.md the settings that protect the connections."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
LIMITS = re.findall(
    r"^\| .+ \| (\d+) \| `([\w.]+)` \|$", (ROOT / "docs" / "limits.md").read_text(encoding="utf-8"), re.M
)
CONNECTIONS = re.findall(r"^\| `(\w+)\.(\w+)` \| (\w+|\[\]) \| .+ \|$", SECURITY, re.M)


@pytest.mark.parametrize(("limit", "name"), LIMITS)
def test_every_limit_of_the_document_is_that_of_the_code(limit, name):
    place, _, constant = name.rpartition(".")
    found = SETTINGS["server"][constant] if place == "server" else getattr(import_module(place), constant)
    assert int(limit) == (found[-1] if isinstance(found, range | tuple) else found)


@pytest.mark.parametrize(("part", "option", "value"), CONNECTIONS)
def test_connection_settings_are_those_of_the_document(part, option, value):
    assert str(SETTINGS[part][option]).lower() == value


def test_all_rows_of_the_tables_are_read():
    assert len(LIMITS) == 53
    assert len(CONNECTIONS) == 6


def test_everything_that_the_browser_stores_is_listed():
    kept = r'new Memory\("(\w+)", "([\w.]+)"\)'
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "normviz").rglob("*.ts"))
    listed = re.findall(r"^\| `([\w.]+)` \| `(\w+)` \|", SECURITY, re.MULTILINE)
    assert sorted(listed) == sorted((name, storage) for storage, name in re.findall(kept, code))
    assert "`normviz-language` | a cookie" in SECURITY
