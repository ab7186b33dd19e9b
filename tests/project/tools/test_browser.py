"""Which browsers are installed, and that none of them has to be."""

from typing import Any

import pytest

from tools import browser

ALL = ["chromium", "chromium-headless-shell", "firefox-esr", "webkit2gtk-driver", "xvfb"]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that were run, on a machine with apt-get and Chromium, where nothing can be installed."""
    commands: list[tuple[str, ...]] = []

    def run(*command: str) -> bool:
        commands.append(command)
        return False

    find: Any = lambda: "/usr/bin/chromium"  # noqa: E731
    find.cache_clear = lambda: None
    monkeypatch.setattr(browser, "_run", run)
    monkeypatch.setattr(browser, "find", find)
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}" if name == "apt-get" else None)
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0, raising=False)
    return commands


def test_a_failed_installation_of_firefox_and_webkit_is_no_failure(ran, capsys):
    assert browser.main() == 0
    assert {command[-1] for command in ran if "install" in command} == {"firefox-esr", "webkit2gtk-driver", "xvfb"}
    assert "Firefox is missing (apt-get could not install it): its journeys are skipped." in capsys.readouterr().err


def test_without_root_nothing_is_tried_and_one_line_says_why(ran, monkeypatch, capsys):
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000, raising=False)
    assert browser.main() == 0
    assert ran == []
    assert "WebKitGTK is missing (apt-get needs root): its journeys are skipped." in capsys.readouterr().err


def test_what_is_missing_is_installed_at_once(ran, monkeypatch):
    monkeypatch.setattr(browser, "find", lambda: None)
    assert browser._missing() == ALL
    monkeypatch.setattr(browser, "_run", lambda *command: bool(ran.append(command) or True))
    browser._install(browser._missing())
    assert [command[-len(ALL) :] for command in ran if "install" in command] == [tuple(ALL)]


def test_a_firefox_from_a_snap_is_not_used(monkeypatch):
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/snap/bin/{name}" if name == "firefox" else None)
    monkeypatch.setattr(browser.os.path, "realpath", lambda path: "/usr/bin/snap")
    assert browser.find_firefox() is None
