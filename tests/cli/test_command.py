"""The command: the files that it writes, and its help."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import normviz as nv
from normviz.cli import main
from tests.support.needs import cases_in_torch, needs_rms_norm
from tests.support.structure import answers_of

ROOT = Path(__file__).parents[2]
CDN = ("--plotlyjs", "cdn")


def test_export_writes_what_the_library_makes(run, tmp_path):
    code, out, err = run("export", "LayerNorm(4)", "--shape", "2,4", "-o", "page.html", *CDN)
    assert (code, err) == (0, "")
    assert out.startswith("page.html: ")
    assert os.listdir(tmp_path) == ["page.html"]
    view = nv.open("/?layer=LayerNorm(4)&shape=2,4")
    assert (tmp_path / "page.html").read_text() == view.with_(choices=nv.Choices()).to_html(plotlyjs="cdn")


def test_export_writes_to_the_standard_output(run, tmp_path):
    code, out, err = run("export", "--fixed", "LayerNorm(4)", "--shape", "2,4", "-o", "-", *CDN)
    assert (code, err) == (0, "")
    assert out == nv.open("/?layer=LayerNorm(4)&shape=2,4").to_html(plotlyjs="cdn")
    assert os.listdir(tmp_path) == []


STANDARD_OUTPUT = {
    "practice --count 2 -o -": '[\n  {\n    "id"',
    "practice --count 2 --format html -o -": "<!doctype html>",
    "practice --count 2 --format moodle -o -": "<?xml",
    "questions -o -": "s1 ",
    "questions --json -o -": "[",
    "plotlyjs -": "/**",
}


@pytest.mark.parametrize("arguments", STANDARD_OUTPUT)
def test_a_minus_sign_is_the_standard_output(run, tmp_path, arguments):
    code, out, err = run(*arguments.split())
    assert (code, err) == (0, "")
    assert out.startswith(STANDARD_OUTPUT[arguments])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("count", [1, 2])
def test_one_picture_is_written_to_the_standard_output_as_svg(run, tmp_path, monkeypatch, count):
    def save(parts, path, **options):
        paths = [path.with_stem(f"{path.stem}-{number}") for number in range(count)]
        for each in paths:
            each.write_text(f"<svg>{each.suffix}")
        return paths

    monkeypatch.setattr(sys.modules["normviz.export.pictures"], "save", save)
    several = (2, "", "normviz: this view has several figures; name a file for them instead of -.\n")
    assert run("image", "LayerNorm(4)", "-o", "-") == ((0, "<svg>.svg", "") if count == 1 else several)
    assert os.listdir(tmp_path) == []


SAME = {
    "--layout NHWC --shape 2,3,4,3 ChannelsFirstLayerNorm(3)": "/?layout=NHWC&shape=2,3,4,3&layer=ChannelsFirstLayerNorm(3)",
    "LayerNorm(3) --shape 2,3 --values -1,2,3,4,5,-6 --at 0,1": "/?layer=LayerNorm(3)&shape=2,3&values=-1,2,3,4,5,-6&at=0,1",
    "BatchNorm2d(3) --data scales --seed 4 --params random --at none": "/?layer=BatchNorm2d(3)&data=scales&seed=4&params=random&at=none",
    "BatchNorm2d(64)": "/?layer=BatchNorm2d(64)&shape=2,64,3,5",
    "ChannelsLastGroupNorm(2,6)": "/?layer=ChannelsLastGroupNorm(2,6)&shape=2,5,6",
    "--page step_by_step RMSNorm(4) --shape 2,4": "/step_by_step?layer=RMSNorm(4)&shape=2,4",
    "--page gradients": "/gradients",
    "--page train_and_eval --set show=stream momentum=none": "/train_and_eval?show=stream&momentum=none",
    "--page numerics": "/numerics",
    "--lesson numerics": "/numerics",
    "--page steps": "/step_by_step",
    "--page practice --seed 7 --set count=5": "/practice?seed=7&count=5",
    "--page questions": "/questions",
    "--page questions --set q=s0": "/questions?q=s0",
    "--page models": "/models",
    "--page teach": "/teach",
    "--page home": "/home",
    "--page s0": "/questions?q=s0",
    "--page start": "/start",
    "--page story": "/story",
    "LayerNorm(4) --hide code,worked": "/?layer=LayerNorm(4)&hide=code,worked",
    "--page compare --hide all": "/compare?hide=all",
    "--page dim-0": "/compare?shape=3,5,2,4&layout=NHWC&layer=DimNorm(4,dim=0)&layers=DimNorm(4, dim=0);ChannelsLastBatchNorm(4)",
    "--page compare --layers BatchNorm2d(3) GroupNorm(3,3)": "/compare?layer=BatchNorm2d(3)&layers=BatchNorm2d(3);GroupNorm(3,3)",
    "--link https://example.org/lab/compare?shape=2,4&layers=LayerNorm(4);BatchNorm1d(4)": "/compare?shape=2,4&layers=LayerNorm(4);BatchNorm1d(4)",
}  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize("arguments", SAME)
def test_arguments_describe_the_same_view_as_a_link(run, tmp_path, arguments):
    """The test above and those of the choices compare the files that answer."""
    assert run("export", "--fixed", *arguments.split(), "-o", "page.html", *CDN)[0] == 0
    assert (tmp_path / "page.html").read_text() == nv.open(SAME[arguments]).to_html(plotlyjs="cdn")


def test_export_says_which_controls_would_make_the_file_too_large(run, monkeypatch):
    monkeypatch.setattr("normviz.export.playable.MOST_VIEWS", 20)
    code, _out, err = run("export", "LayerNorm(3)", "--shape", "2,3", "-o", "page.html", *CDN)
    assert code == 0
    assert re.fullmatch(
        r"normviz: the file would be too large with these controls, so it leaves them out: .* and Mode\.\n", err
    )


CHOICES = {
    "LayerNorm(4) --shapes 6,4;3,2,4 --layers BatchNorm1d(4)": nv.Choices(shapes=((6, 4), (3, 2, 4)), layers=("BatchNorm1d(4)",)),
    "--app https://example.org/lab --layers LayerNorm(4) BatchNorm1d(4)": nv.Choices(app="https://example.org/lab", layers=("LayerNorm(4)", "BatchNorm1d(4)")),
}  # fmt: skip


@pytest.mark.parametrize("arguments", CHOICES)
def test_options_say_what_a_reader_can_choose(run, tmp_path, arguments):
    assert run("export", *arguments.split(), "--shape", "2,4", "-o", "page.html", *CDN)[0] == 0
    view = nv.open("/?layer=LayerNorm(4)&shape=2,4").with_(choices=CHOICES[arguments])
    html = view.to_html(plotlyjs="cdn")
    assert (tmp_path / "page.html").read_text() == html
    assert '"answers":"' in html


def test_a_tour_leads_to_the_app_for_views_that_are_not_in_it(run, tmp_path):
    (tmp_path / "mine.yaml").write_text("title: T\nstops: [{link: '/?shape=2,4,4,4&layer=LayerNorm(4)'}]")
    assert run("export", "--tour", "mine.yaml", "--app", "https://example.org/lab", "-o", "page.html", *CDN)[0] == 0
    html = (tmp_path / "page.html").read_text()
    assert "https://example.org/lab/explore?shape=2,4,4,4" in json.dumps(answers_of(html))


def test_layers_narrow_the_pages_with_a_control_for_the_layer(run, tmp_path):
    layers = ("--layers", "LayerNorm([3,4,4])", "BatchNorm2d(3)")
    assert run("export", "--page", "step_by_step", *layers, "-o", "page.html", *CDN)[0] == 0
    states = [view["state"] for view in answers_of((tmp_path / "page.html").read_text())["views"]]
    assert [list(state) for state in states] == [["layer"], ["layer"]]


@needs_rms_norm
def test_layers_narrow_the_layers_that_can_be_compared(run, tmp_path):
    layers = ("--layers", "BatchNorm1d(4)", "LayerNorm(4)", "RMSNorm(4)")
    assert run("export", "--page", "compare", *layers, "--shape", "2,4", "-o", "page.html", *CDN)[0] == 0
    view = nv.open(f"/compare?shape=2,4&layer=BatchNorm1d(4)&layers={';'.join(layers[1:])}")
    choices = nv.Choices(layers=layers[1:])
    assert (tmp_path / "page.html").read_text() == view.with_(choices=choices).to_html(plotlyjs="cdn")


def test_several_layers_in_a_fixed_file_are_tabs_each_with_its_figures_and_its_code(run, tmp_path):
    layers = ("BatchNorm2d(3)", "LayerNorm([4,4])", "GroupNorm(3,3)")
    code, _, err = run("export", "--fixed", "--layers", *layers, "-o", "set.html", *CDN)
    assert (code, err) == (0, "")
    html = (tmp_path / "set.html").read_text()
    assert re.findall(r'data-tab="t1-\d" [^>]*>(.*?)</button>', html) == [
        "BatchNorm2d(3)",
        "LayerNorm([4, 4])",
        "GroupNorm(3, 3)",
    ]
    assert html.count('class="nv-figure"') == 3
    assert html.count(">torch.nn</button>") == 3


def test_options_of_the_file(run, tmp_path):
    options = ("--theme", "dark", "--caption", "Week 3", "--title", "My page", "--plotlyjs", "lib/p.js")
    assert run("export", "--fixed", "LayerNorm(4)", "-o", "page.html", *options)[0] == 0
    html = (tmp_path / "page.html").read_text()
    assert '<html lang="en" dir="ltr" class="nv-html" data-theme="dark">' in html
    assert "<title>My page</title>" in html
    assert ">Week 3</p>" in html
    assert '"plotly":"lib/p.js"' in html


def test_plotly_js_as_a_file(run, tmp_path):
    assert run("plotlyjs", "plotly.min.js")[0] == 0
    assert (tmp_path / "plotly.min.js").stat().st_size > 1_000_000


def test_image_saves_with_the_options_of_the_library(run, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        sys.modules["normviz.export.pictures"],
        "save",
        lambda parts, path, **options: asked.append((len(parts), path, options)) or [],
    )
    assert run("image", "LayerNorm(4)", "-o", "x.png", "--theme", "dark", "--width", "900")[0] == 0
    assert asked == [(len(nv.explore("LayerNorm(4)").parts), "x.png", {"theme": "dark", "scale": 2.0, "width": 900})]


def test_a_tensor_that_is_too_large_to_hold_is_exported_with_what_is_shown_of_it(run, tmp_path):
    arguments = ("LayerNorm(96)", "--shape", "8,56,56,96", "--layout", "NHWC")
    assert run("export", "--fixed", *arguments, "-o", "page.html", *CDN)[0] == 0
    assert '"group":{"id":' in (tmp_path / "page.html").read_text()


def test_a_progress_bar_is_shown_only_on_a_terminal(run, monkeypatch):
    assert run("site", "one", "--only", "s0")[2] == ""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["site", "two", "--only", "s0", "s0a"]) == 0
    assert "0/2 [" in sys.stderr.getvalue()


def test_python_m_normviz_is_the_same_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "normviz", "export", "LayerNorm(5)", "--shape", "2,3", "-o", str(tmp_path / "page.html")],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("normviz: ")
    assert len(done.stderr.splitlines()) == 1  # no progress bar without a terminal
