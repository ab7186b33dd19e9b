"""The tool for translators, on a package of one file and three languages."""

import gettext
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from tools import translations
from tools.pseudo import accented, pseudo_prose, right_to_left

SOURCE = """
from normviz.texts.messages import _
print(_("One mean for each row"), f"{_('Two')}", ngettext("{n} mean", "{n} means", n))
"""
SPANISH = r"""
msgid ""
msgstr ""
"Language: es\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

msgid "One mean for every row"
msgstr "Una media por fila"

msgid "{n} mean"
msgid_plural "{n} means"
msgstr[0] "{n} media"
msgstr[1] "{n} medias"

msgid "Gone"
msgstr "Ya no existe"
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with three messages and two English files; the Spanish translation has an old message and one of the files."""
    (tmp_path / "code.py").write_text(SOURCE)
    locale = tmp_path / "locale"
    for file, text in {
        "en/start/depth.md": "# Why?\n",
        "en/start/affine.md": "# What for?\n",
        "es/start/depth.md": "# ¿Por qué?\n",
        "es/LC_MESSAGES/normviz.po": SPANISH,
    }.items():
        (locale / file).parent.mkdir(parents=True, exist_ok=True)
        (locale / file).write_text(text)
    for name, value in {"PACKAGE": tmp_path, "LOCALE": locale, "ENGLISH": locale / "en"}.items():
        monkeypatch.setattr(translations, name, value)
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, list[str]]:
    code = translations.main(argv)
    return code, capsys.readouterr().out.splitlines()


def test_the_status_lists_what_is_missing_and_what_is_outdated(package, capsys):
    code, lines = shown(capsys, "status", "--strict")
    assert code == 1
    assert lines == [
        "es: messages: 1 of 3 translated, 1 missing, 1 outdated; files: 0 of 2 translated, 1 missing, 1 outdated",
        "  missing: Two",
        "  outdated: One mean for each row",
        "  missing: start/affine.md",
        "  outdated: start/depth.md",
    ]
    assert translations.po_file("es").read_text() == SPANISH
    assert shown(capsys, "status", "es")[0] == 0


def test_an_update_keeps_translations_and_does_not_use_those_of_a_changed_text(package, capsys):
    assert shown(capsys)[0] == 0
    text = translations.po_file("es").read_text()
    assert '/code.py\n#, fuzzy\nmsgid "One mean for each row"\nmsgstr "Una media por fila"' in text
    assert "Gone" not in text
    read = gettext.translation("normviz", package / "locale", ["es"])
    assert [read.ngettext("{n} mean", "{n} means", n) for n in (1, 2)] == ["{n} media", "{n} medias"]
    assert read.gettext("One mean for each row") == "One mean for each row"
    shown(capsys)
    assert translations.po_file("es").read_text() == text


def test_a_new_language_needs_only_a_folder(package, capsys):
    (package / "locale" / "fr").mkdir()
    _code, lines = shown(capsys)
    assert (
        "fr: messages: 0 of 3 translated, 3 missing, 0 outdated; files: 0 of 2 translated, 2 missing, 0 outdated"
        in lines
    )
    assert '"Plural-Forms: nplurals=2; plural=(n > 1);\\n"' in translations.po_file("fr").read_text()


def test_a_stamped_file_is_outdated_when_its_english_changes(package, capsys):
    shown(capsys, "stamp", "es")
    file, english = (package / "locale" / name / "start" / "depth.md" for name in ("es", "en"))
    assert file.read_text() == f"<!-- English: {translations.digest(english)} -->\n\n# ¿Por qué?\n"
    assert translations.status_of_files("es").outdated == ()
    english.write_text("# Why normalize?\n")
    assert translations.status_of_files("es").outdated == ("start/depth.md",)
    shown(capsys, "stamp", "es", "start/depth.md")
    assert translations.status_of_files("es").outdated == ()
    assert file.read_text().count("English:") == 1


def test_a_complete_language_has_nothing_left_to_do(package, capsys):
    (package / "locale" / "en" / "start" / "affine.md").unlink()
    (package / "code.py").write_text("ngettext('{n} mean', '{n} means', n)")
    shown(capsys, "stamp", "es")
    assert shown(capsys, "status", "--strict") == (
        0,
        ["es: messages: 1 of 1 translated, 0 missing, 0 outdated; files: 1 of 1 translated, 0 missing, 0 outdated"],
    )


def test_messages_in_a_template_of_a_script_are_found():
    source = 'const text = `<b>${_("One")}</b> ${ngettext("{n} x", "{n} xs", n)}`; // _(name)'
    assert list(translations.script_messages(source)) == ["One", ("{n} x", "{n} xs")]


def test_a_plural_without_all_its_forms_is_not_translated():
    catalog = Catalog(locale="es")
    catalog.add(("{n} mean", "{n} means"), ("{n} media", ""))
    assert b"media" not in translations.mo_bytes(catalog)


def test_a_pseudo_language_keeps_keys_placeholders_and_code():
    text = "# A `mean`\n\n> Is it {n:,}?\n\n## Predict\n\n- [one] One LayerNorm\n  because\n\n## Answer\n\nYes."
    assert (
        pseudo_prose(text, accented)
        == "# Åå `mean`\n\n> Îîš îîţ {n:,}?\n\n## Predict\n\n- [one] Ööñéé LayerNorm\n  ƀééçååûûšéé\n\n## Answer\n\nÝééš."
    )
    assert pseudo_prose("  - link: /?shape=2,3\n    caption: One mean", right_to_left) == (
        "  - link: /?shape=2,3\n    caption: טנע מעאנ"
    )
