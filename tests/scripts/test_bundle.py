"""The bundler, and the bundles that it makes of our modules."""

import gettext
import re
from dataclasses import fields
from pathlib import Path

import pytest

from normviz.export.document import script
from normviz.export.site import SITE
from normviz.figures import bundle
from normviz.figures.palette import THEMES, Theme
from normviz.lessons.style import page_style
from normviz.ui.assets import component
from tests.support.javascript import check_syntax, evaluate

ENTRY = 'import { one } from "./a.js";\nexport default function mount() {\n  return one;\n}\n'


def write(folder: Path, **modules: str) -> Path:
    for name, source in modules.items():
        (folder / f"{name}.js").write_text(source, encoding="utf-8")
    return folder / "entry.js"


def test_a_bundle_has_each_module_once_and_after_what_it_imports(tmp_path):
    entry = write(
        tmp_path,
        entry=f'import "./b.js";\n{ENTRY}',
        a="// why\nexport const one = 1; // one\n",
        b='import { one } from "./a.js";\n\n/** A comment\n * of two lines. */\nconsole.log(one);\n',
    )
    assert bundle.bundle(entry).splitlines()[4:] == [
        "const one = 1;",
        "console.log(one);",
        "export default function mount() {",
        "return one;",
        "}",
    ]


REFUSED = [
    # the modules, and the error
    ({"entry": ENTRY}, r"entry\.js imports .*a\.js, which does not exist"),
    ({"entry": ENTRY, "a": "const one = 1;\n"}, r"entry\.js imports one from \./a\.js, which does not export it"),
    ({"entry": 'import { tone } from "normviz:themes";\n'}, "imports tone from normviz:themes, which does not export it"),
    ({"entry": 'import { one } from "lodash";\n'}, "imports one from lodash, which does not export it"),
    ({"entry": ENTRY, "a": 'import "./b.js";\nexport const one = 1;\n', "b": 'import "./a.js";\n'}, "circle: a.js -> b.js -> a.js"),
    ({"entry": f"{ENTRY}const one = 2;\n", "a": "export const one = 1;\n"}, r"entry\.js and a\.js both define one; rename one"),
    ({"entry": "const THEMES = {};\n"}, "and normviz:themes both define THEMES"),
    ({"entry": 'import * as a from "./a.js";\n'}, "a form of import or export that is not bundled"),
    ({"entry": 'import "./a.js";\n', "a": "export default function mount() {}\n"}, "a form of import or export that is not bundled"),
    ({"entry": "const one = 1;\nexport { one };\n"}, "a form of import or export that is not bundled"),
]  # fmt: skip


@pytest.mark.parametrize(("modules", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_modules_that_do_not_fit_together_are_refused(tmp_path, modules, message):
    with pytest.raises(bundle.BundleError, match=message):
        bundle.bundle(write(tmp_path, **modules))


def test_translations_of_the_messages_are_bundled(tmp_path, monkeypatch):
    entry = write(
        tmp_path,
        entry='_("Copy");\nN_("untranslated");\nngettext(\n"{n} group", "{n} groups", n);\nngettext("not \\"here\\"", "x", n);\n',
    )

    class Spanish(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return {"Copy": "Copiar"}.get(message, message)

        def ngettext(self, one: str, many: str, n: int) -> str:
            return ("{n} grupo" if n == 1 else "{n} grupos") if one == "{n} group" else one if n == 1 else many

        def info(self) -> dict[str, str]:
            return {"plural-forms": "nplurals=2; plural=(n != 1);"}

    monkeypatch.setattr(bundle, "translations", lambda language: Spanish())
    text = bundle.bundle(entry, "es")
    assert 'const TRANSLATIONS = {"Copy": "Copiar", "{n} group": ["{n} grupo", "{n} grupos"]};' in text
    assert "const pluralForm = (n) => Number((n != 1));" in text
    assert 'const LANGUAGE = {"tag": "es", "direction": "ltr", "decimalComma": true};' in text


@pytest.mark.parametrize(("language", "joined"), [("en", "A. B."), ("zh", "A.B.")])
def test_a_language_says_what_is_between_sentences(language, joined):
    assert evaluate("joinSentences(args[0])", ["A.", "B."], language=language) == joined


BUNDLES = {
    "figures": bundle.module,
    "export": script,
    "export that answers": lambda: script(True),
    "app": component("en").content.decode,
}


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_is_one_es_module(name):
    source = BUNDLES[name]()
    assert source.count("export default ") == (name in ("figures", "app"))
    assert not re.search(r"^\s*import\b|\brequire\(|^export (?!default)", source, re.MULTILINE)
    check_syntax(source)


def test_the_site_has_a_classic_script():
    assert not re.search(r"^(import|export)\b", bundle.classic(bundle.bundle(SITE)), re.MULTILINE)
    check_syntax(bundle.classic(bundle.bundle(SITE)))


FOLDER = Path(bundle.__file__).parents[1]


def test_no_template_literal_spans_several_lines():
    """The bundler removes indentation, which would change a text of several lines."""
    for path in FOLDER.rglob("*.js"):
        source = path.read_text(encoding="utf-8")
        lines = [re.sub(r"/\[.*?\]/", "", line) for line in source.splitlines()]
        assert [line for line in lines if line.count("`") % 2] == [], path
        assert not re.search(r"\\$", source, re.MULTILINE), path


def test_every_script_is_in_a_bundle():
    """Every script except the entry files is imported by another script."""
    imported = {
        (path.parent / source).resolve()
        for path in FOLDER.rglob("*.js")
        for source in re.findall(r'^import .*?"(\..*?)";', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    rest = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js") if path.resolve() not in imported}
    assert rest == {
        "export/browser/exercises.js",
        "api/live/widget.js",
        "export/browser/site.js",
        "ui/browser/component.js",
    }


def test_the_module_fetches_nothing_but_plotly_js():
    text = bundle.module() + bundle.style()
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|@import|url\(\s*[\"']?(?!#)", text.replace("url(#${", "url(#"))


def test_every_color_that_the_style_uses_is_defined():
    style = bundle.style()
    themed = {f"--nv-{field.name}" for field in fields(Theme) if isinstance(getattr(THEMES["light"], field.name), str)}
    defined = set(re.findall(r"(--nv-[a-z-]+)\s*:", style)) | set(re.findall(r"\"(--nv-[a-z-]+)\"", bundle.module()))
    used = set(re.findall(r"var\((--nv-[a-z-]+)", style + bundle.module()))
    assert used <= defined | themed


def test_every_rule_of_the_style_is_below_our_own_names():
    rules = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", bundle.style(), flags=re.DOTALL)
    selectors = [part.strip() for rule in re.findall(r"([^{}]+)\{", rules) for part in rule.split(",")]
    assert len(selectors) > 40
    assert [selector for selector in selectors if not selector.startswith(".nv-")] == []


def test_the_style_of_the_pages_is_complete():
    style = page_style()
    assert style.count("{") == style.count("}")
    assert all(f"[data-mode={name}]" in style for name in THEMES)
