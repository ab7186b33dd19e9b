"""The scripts of pages: they are up to date, and what Python adds to them; and the style of figures."""

import gettext
import re
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from normviz.export import assets
from normviz.export import assets as style
from normviz.export.assets import page_style
from normviz.export.document import script
from normviz.figures.palette import THEMES, Theme
from normviz.lessons.practice.formats import paper
from normviz.ui.assets import component
from tests.support.javascript import LESSONS, PACKAGE, PARTS, check_syntax, evaluate, modules
from tests.support.needs import skip_or_fail
from tools import bundles
from tools.npm import NpmError

FILES = {*(f"{name}.js" for name in bundles.BUNDLES), bundles.MESSAGES}


def made(folder: Path, package: Path = PACKAGE) -> dict[str, bytes]:
    """The files that esbuild makes now."""
    try:
        bundles.make(folder, package)
    except NpmError as error:
        skip_or_fail(f"the bundles are not made again: {error}")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def kept() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in bundles.FOLDER.iterdir()}


@pytest.mark.rule("The bundles are made from the TypeScript: make bundles")
def test_the_bundles_are_up_to_date(tmp_path):
    assert {name for name, content in made(tmp_path).items() if content != kept().get(name)} == set()
    assert set(kept()) == FILES


def test_a_changed_script_changes_the_bundles_that_have_it(tmp_path):
    package = tmp_path / "normviz"
    shutil.copytree(
        PACKAGE, package, ignore=lambda _folder, names: [n for n in names if n in ("locale", "plotlyjs", "bundles")]
    )
    path = package / "lessons" / "share" / "report.ts"
    path.write_text(path.read_text(encoding="utf-8").replace('_("Report', '_("Tell us: report'), encoding="utf-8")
    (tmp_path / "made").mkdir()
    changed = {name for name, content in made(tmp_path / "made", package).items() if content != kept()[name]}
    assert changed == {"app.js", "site.js", "messages.json"}


def test_every_script_is_in_a_bundle():
    """Every script is an entry, or the script of a page, or another script imports it."""
    imported = {
        (path.parent / source).resolve()
        for path in PACKAGE.rglob("*.ts")
        for source in re.findall(r'^import .*?"(\..*?)";', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    entries = {PACKAGE / entry for entry, _has_pages in bundles.BUNDLES.values()}
    scripts = {path for path in PACKAGE.rglob("*.ts") if not path.name.endswith(".d.ts")}
    assert scripts - imported - entries - set(bundles.page_scripts()) == set()


def test_a_page_has_the_script_of_its_folder(tmp_path):
    page = tmp_path / "lessons" / "toy" / "page.py"
    page.parent.mkdir(parents=True)
    assert bundles.page_scripts(tmp_path) == []
    for path in (page, page.with_name("toy.ts"), page.with_name("other.ts")):
        path.touch()
    assert bundles.page_scripts(tmp_path) == [page.with_name("toy.ts")]


class Spanish(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return {"Copy": "Copiar"}.get(message, message)

    def ngettext(self, one: str, many: str, n: int) -> str:
        return ("{n} grupo" if n == 1 else "{n} grupos") if one == "{n} group" else one if n == 1 else many

    def info(self) -> dict[str, str]:
        return {"plural-forms": "nplurals=2; plural=(n != 1);"}


def test_a_script_gets_the_translations_of_its_messages(monkeypatch):
    monkeypatch.setattr(assets, "translations", lambda language: Spanish())
    messages = ("Copy", "untranslated", ("{n} group", "{n} groups"), ('not "here"', "x"))
    text = assets.constants(messages, "es")
    assert 'TRANSLATIONS={"Copy":"Copiar","{n} group":["{n} grupo","{n} grupos"]}' in text
    assert "pluralForm=(n)=>Number((n != 1));" in text
    assert 'LANGUAGE={"tag":"es","direction":"ltr","decimalComma":true}' in text
    assert text.count("\n") == 0  # the lines of a script stay those of its source map


def test_a_bundle_has_the_messages_of_its_scripts_and_no_other():
    texts = {name: assets.bundle(name, "es") for name in bundles.BUNDLES}
    assert {name for name, text in texts.items() if '"Start":"Empezar"' in text} == {"app", "exercises", "site"}
    assert {name for name, text in texts.items() if '"Share":' in text} == {"app", "playable", "site"}


@pytest.mark.parametrize(("language", "joined"), [("en", "A. B."), ("zh", "A.B.")])
def test_a_language_says_what_is_between_sentences(language, joined):
    assert evaluate("joinSentences(args[0])", ["A.", "B."], language=language) == joined


SCRIPTS = {"export": script, "export that answers": lambda: script(True), "app": component("en").content.decode}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_bundle_is_one_es_module(name):
    source = SCRIPTS[name]()
    assert len(re.findall(r"\bexport\{\w+ as default\};", source)) == (name == "app")
    assert not re.search(r"\bimport\b *[\"'{*(]|\brequire\(|\bexport\{(?!\w+ as default\})", source)
    check_syntax(source)


def test_the_site_has_a_classic_script():
    source = assets.classic(assets.bundle("site"))
    assert not re.search(r"\b(import|export)\b *[\"'{*]", source)
    check_syntax(source)


STYLE = assets.read_css(assets.BROWSER / "linked.css")
SOURCE = "".join(source for address, source in modules().items() if "/figures/browser/" in address)


def test_the_module_fetches_nothing_but_plotly_js():
    text = SOURCE + STYLE
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|@import|url\(\s*[\"']?(?!#)", text.replace("url(#${", "url(#"))


def test_every_color_that_the_style_uses_is_defined():
    themed = {f"--nv-{field.name}" for field in fields(Theme) if isinstance(getattr(THEMES["light"], field.name), str)}
    defined = set(re.findall(r"(--nv-[a-z-]+)\s*:", STYLE)) | set(re.findall(r"\"(--nv-[a-z-]+)\"", SOURCE))
    used = set(re.findall(r"var\((--nv-[a-z-]+)", STYLE + SOURCE))
    assert used <= defined | themed


def test_every_rule_of_the_style_is_below_our_own_names():
    rules = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", STYLE, flags=re.DOTALL)
    selectors = [part.strip() for rule in re.findall(r"([^{}]+)\{", rules) for part in rule.split(",")]
    assert len(selectors) > 40
    assert [selector for selector in selectors if not selector.startswith(".nv-")] == []


@pytest.mark.parametrize("sheet", [*PARTS.glob("*.css"), *LESSONS.rglob("*.css")], ids=lambda path: path.name)
def test_every_style_sheet_of_a_page_or_a_part_is_in_a_style(sheet):
    styles = (style.page_style, style.controls_style, style.share_style, style.exercises_style)
    if sheet == paper.STYLE:  # a printed exam has this one alone
        return
    assert any(assets.read_css(sheet) in one() for one in styles)


def test_the_style_of_the_pages_is_complete():
    style = page_style()
    assert style.count("{") == style.count("}")
    assert all(f"[data-mode={name}]" in style for name in THEMES)
