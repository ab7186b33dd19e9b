"""A file, a widget and the output of a command have one language: that in which they were made."""

import json
import re

import pytest

import normviz as nv
from normviz.cli import main
from normviz.export.links import output_of_query
from normviz.export.output import Choices
from normviz.lessons.tours import find_tour
from normviz.texts.errors import NormvizError
from normviz.texts.languages import with_language
from normviz.texts.messages import in_language
from tests.support.languages import brackets as brackets
from tests.support.structure import answers_of

VIEW = {"shape": "2,3", "layer": "LayerNorm(3)"}


def test_a_link_to_a_view_gives_a_file_in_its_language(brackets):
    output = nv.open("/?shape=2,3&layer=LayerNorm(3)&lang=xb")
    html = output.with_(choices=None, plotlyjs="cdn").to_html()
    assert '<html lang="xb" dir="ltr"' in html
    assert "⟦{layer} on {shape}⟧".format(layer="LayerNorm([3])", shape=(2, 3)) in html
    assert output.url().endswith("&lang=xb")
    assert str(output).startswith("⟦")


def test_an_unknown_language_of_a_link_is_refused():
    with pytest.raises(NormvizError, match=r"lang='eng' is unknown\. Did you mean en\?"):
        nv.open("/?shape=2,3&layer=LayerNorm(3)&lang=eng")


def test_links_of_a_file_open_the_app_in_the_language_of_the_file(brackets):
    assert with_language("/questions?q=s0&lang=xb") == "/questions?q=s0&lang=xb"
    with in_language(brackets):
        output = output_of_query("explore", VIEW)
        assert with_language("/compare") == "/compare?lang=xb"
    output = output.with_(choices=Choices(app="https://example.org/lab", few=True))
    packed = output.answers()
    links = re.findall(r"https://example.org/lab/questions\?[^\\]*", json.dumps(packed["pool"]))
    assert links
    assert all(link.endswith("&amp;lang=xb") for link in links)
    queries = [view["query"] for view in packed["views"]]
    assert all((packed["pool"][query["$"]] if "$" in query else query)["lang"] == "xb" for query in queries)


def test_a_fragment_says_its_language_because_the_page_around_it_may_have_another(brackets):
    html = nv.open("/?shape=2,3&layer=LayerNorm(3)&lang=xb").to_html(full=False, plotlyjs="cdn")
    assert html.startswith('<div class="nv-doc" data-theme="follow" lang="xb" dir="ltr"')
    assert '<div class="nv-doc" data-theme="follow" lang="en" dir="ltr"' in nv.explore("LayerNorm(3)", (2, 3)).to_html(
        full=False, plotlyjs="cdn"
    )


def test_torchs_words_are_plain_text_on_a_terminal(brackets, tmp_path, capsys):
    assert main(["export", "LayerNorm(7)", "--shape", "2,3", "--lang", "xb", "-o", str(tmp_path / "page.html")]) == 2
    assert '"Given normalized_shape=[7]' in capsys.readouterr().err


def test_the_command_writes_a_file_in_a_language(brackets, tmp_path, capsys):
    assert (
        main(
            [
                "export",
                "LayerNorm(3)",
                "--shape",
                "2,3",
                "--fixed",
                "--plotlyjs",
                "cdn",
                "--lang",
                "xb",
                "-o",
                str(tmp_path / "page.html"),
            ]
        )
        == 0
    )
    assert '<html lang="xb"' in (tmp_path / "page.html").read_text()
    assert main(["practice", "--count", "1", "--lang", "xb"]) == 0
    (exercise,) = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert "⟦" in exercise["prompt"]
    assert exercise["link"].endswith("&lang=xb")
    assert main(["practice", "--lang", "eng"]) == 2
    assert "lang='eng' is unknown" in capsys.readouterr().err
    function = "torch.nn.functional:normalize"
    main(["check", function, "--shape", "3,4", "--lang", "xb"])
    assert "⟦" in capsys.readouterr().out
    assert main(["questions"]) == 0
    assert "⟦" not in capsys.readouterr().out


def test_a_widget_keeps_its_language(brackets):
    widget = nv.live("LayerNorm(3)", (2, 3), lang="xb")
    assert widget.query.endswith("lang=xb")
    assert "⟦" in widget._esm
    widget.query = "shape=2,3&layer=LayerNorm(4)&lang=en"
    assert widget.problem.startswith("⟦")
    sent = []
    widget.send = lambda content, buffers=None: sent.append(content)
    widget.layer = "RMSNorm(3)"
    assert "⟦" in json.dumps(sent, ensure_ascii=False)
    assert widget.output().lang == "xb"
    assert "⟦" not in nv.live("LayerNorm(3)", (2, 3)).output().to_html(plotlyjs="cdn")


@pytest.mark.parametrize(("lang", "tag"), [("es", "es"), ("pt", "pt-BR"), ("zh", "zh-Hans")])
def test_a_tour_is_a_file_in_a_language(lang, tag, tmp_path):
    page = tmp_path / "tour.html"
    assert main(["export", "--tour", "normalized-shape", "--plotlyjs", "cdn", "--lang", lang, "-o", str(page)]) == 0
    with in_language(lang):
        tour = find_tour("normalized-shape")
    assert tour.title != find_tour("normalized-shape").title
    assert f'<html lang="{tag}" dir="ltr"' in page.read_text()
    assert tour.title in page.read_text()
    answers = json.dumps(answers_of(page.read_text()), ensure_ascii=False)
    assert all(json.dumps(stop.caption, ensure_ascii=False)[1:20] in answers for stop in tour.stops)
