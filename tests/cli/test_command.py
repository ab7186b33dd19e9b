"""The command: the files that it writes, and its errors."""

import io
import os
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import normviz as nv
from normviz.cli import main
from normviz.cli.command import _parser
from normviz.export.site import writing
from tests.export.structure import HOSTILE, Structure, same_structure

ROOT = Path(__file__).parents[2]
CDN = ("--plotlyjs", "cdn")


def test_export_writes_what_the_library_makes(run, tmp_path):
    code, out, err = run("export", "LayerNorm(4)", "--shape", "2,4", "-o", "page.html", *CDN)
    assert (code, err) == (0, "")
    assert out.startswith("page.html: ")
    assert os.listdir(tmp_path) == ["page.html"]
    view = nv.open("/?layer=LayerNorm(4)&shape=2,4")
    assert (tmp_path / "page.html").read_text() == view.with_(choices=nv.Choices()).to_html(plotlyjs="cdn")


SAME = {
    "--layout NHWC --shape 2,3,4,3 ChannelsFirstLayerNorm(3)": "/?layout=NHWC&shape=2,3,4,3&layer=ChannelsFirstLayerNorm(3)",
    "LayerNorm(3) --shape 2,3 --values -1,2,3,4,5,-6 --at 0,1": "/?layer=LayerNorm(3)&shape=2,3&values=-1,2,3,4,5,-6&at=0,1",
    "BatchNorm2d(3) --data scales --seed 4 --params random --at none": "/?layer=BatchNorm2d(3)&data=scales&seed=4&params=random&at=none",
    "--lesson step_by_step RMSNorm(4) --shape 2,4": "/step_by_step?layer=RMSNorm(4)&shape=2,4",
    "--lesson gradients": "/gradients",
    "--lesson train_and_eval --set show=modes momentum=none": "/train_and_eval?show=modes&momentum=none",
    "--lesson numerics": "/numerics",
    "--lesson s0": "/questions?q=s0",
    "--lesson start": "/start",
    "LayerNorm(4) --hide code,worked": "/?layer=LayerNorm(4)&hide=code,worked",
    "--lesson compare --hide all": "/compare?hide=all",
    "--lesson dim-0": "/compare?shape=3,5,2,4&layout=NHWC&layer=DimNorm(4,dim=0)&layers=DimNorm(4, dim=0);Norm('n h w c -> c', 'c')",
    "--lesson compare --layers BatchNorm2d(3) GroupNorm(3,3)": "/compare?layer=BatchNorm2d(3)&layers=BatchNorm2d(3);GroupNorm(3,3)",
    "--link https://example.org/lab/compare?shape=2,4&layers=LayerNorm(4);BatchNorm1d(4)": "/compare?shape=2,4&layers=LayerNorm(4);BatchNorm1d(4)",
}  # fmt: skip


@pytest.mark.parametrize("arguments", SAME)
def test_arguments_describe_the_same_view_as_a_link(run, tmp_path, arguments):
    """The test above and those of the choices compare the files that answer."""
    assert run("export", "--fixed", *arguments.split(), "-o", "page.html", *CDN)[0] == 0
    assert (tmp_path / "page.html").read_text() == nv.open(SAME[arguments]).to_html(plotlyjs="cdn")


def test_export_says_which_controls_would_make_the_file_too_large(run, monkeypatch):
    monkeypatch.setattr("normviz.export.playable.views.MOST_VIEWS", 20)
    code, _out, err = run("export", "LayerNorm(3)", "--shape", "2,3", "-o", "page.html", *CDN)
    assert code == 0
    assert re.fullmatch(
        r"normviz: the file would be too large with these controls, so it leaves them out: .* and Mode\.\n", err
    )


CHOICES = {
    "LayerNorm(4) --shapes 6,4;3,2,4": nv.Choices(shapes=((6, 4), (3, 2, 4))),
    "LayerNorm(4) --app https://example.org/lab": nv.Choices(app="https://example.org/lab"),
    "--layers LayerNorm(4) BatchNorm1d(4)": nv.Choices(layers=("LayerNorm(4)", "BatchNorm1d(4)")),
    "LayerNorm(4) --layers BatchNorm1d(4)": nv.Choices(layers=("BatchNorm1d(4)",)),
}


@pytest.mark.parametrize("arguments", CHOICES)
def test_options_say_what_a_reader_can_choose(run, tmp_path, arguments):
    assert run("export", *arguments.split(), "--shape", "2,4", "-o", "page.html", *CDN)[0] == 0
    view = nv.open("/?layer=LayerNorm(4)&shape=2,4").with_(choices=CHOICES[arguments])
    html = view.to_html(plotlyjs="cdn")
    assert (tmp_path / "page.html").read_text() == html
    assert '"answers":{' in html


def test_layers_narrow_the_pages_with_a_control_for_the_layer(run, tmp_path):
    layers = ("--layers", "LayerNorm([3,4,4])", "BatchNorm2d(3)")
    assert run("export", "--lesson", "step_by_step", *layers, "-o", "page.html", *CDN)[0] == 0
    assert (tmp_path / "page.html").read_text().count('"state":{"layer":') == 2


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
    assert run("export", "LayerNorm(4)", "-o", "page.html", *options)[0] == 0
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
        sys.modules["normviz.cli.command"],
        "save",
        lambda parts, path, **options: asked.append((len(parts), path, options)) or [],
    )
    assert run("image", "LayerNorm(4)", "-o", "x.png", "--theme", "dark", "--width", "900")[0] == 0
    assert asked == [(len(nv.explore("LayerNorm(4)").parts), "x.png", {"theme": "dark", "scale": 2.0, "width": 900})]


WRONG = {
    "": "COMMAND; normviz --help lists",
    "--unheard": "normviz --help lists",
    "export LayerNorm(4) -o page.html --unheard": "unrecognized arguments: --unheard",
    "export LayerNorm(4)": "required: -o/--out; normviz export --help lists",
    "export -o page.html": "nothing to show; name a layer",
    "export LayerNorm([3,4,4]) --shape 2,3,4,5 -o page.html": "normalized_shape must be the last sizes of x, here",
    "export LayerNorm(96) --shape 8,96,56,56 -o page.html": "to normalize over it, move it to the end (x.movedim(1, -1)) or use ChannelsFirstLayerNorm.",
    "export --lesson step_by_step --shape 1000,1000,1000 -o page.html": "This tensor is too large to compute values here; make it smaller to see the steps.",
    "export batchnorm2d(3) -o page.html": "'batchnorm2d' is not a layer of the catalogue. Did you mean BatchNorm2d?",
    "export --link /?shap=2,3 -o page.html": "'shap' is not a setting of a link. Did you mean shape?",
    "export --link /comparee -o page.html": "does not name a page. Did you mean compare?",
    "export --link http://example.com -o page.html": "names neither a page nor a setting, so it may be a link to another site",
    "export --layers LayerNorm(4) LayerNorm(5) -o page.html": "normalized_shape must be the last sizes",
    "export Nonsense(4) -o page.html": "Nonsense",
    "export LayerNorm(4) --shape 2,x -o page.html": "shape='2,x' is not a list of numbers; write shape=2,3,4,4",
    "export LayerNorm(4) --at 9,9,9,9 -o page.html": "is not an element of a tensor of shape",
    "export LayerNorm(4) --theme blue -o page.html": "invalid choice: 'blue'",
    "export LayerNorm(4) --plotlyjs javascript:alert(1) -o page.html": "is not a location of plotly.js; write inline, cdn",
    f"export LayerNorm(4) --caption {'x' * 301} -o page.html": "is too long; use at most 300 characters",
    f"export LayerNorm(4) --title {'x' * 301} -o page.html": "is too long; use at most 300 characters",
    "export LayerNorm(4) -o none/page.html": "create it first, or write to another place",
    "export LayerNorm(4) -o .": "is a directory; name a file in it",
    "export LayerNorm(4) -o /proc/page.html": "cannot be written",
    "export LayerNorm(4) --hide nonsense -o page.html": "hide='nonsense' is not the name of a control or a part",
    "export --lesson s0 --hide code -o page.html": "a question is always shown whole; leave --hide out",
    "export --lesson unheard -o page.html": "--lesson 'unheard' is unknown; choose start, explore,",
    "export LayerNorm(4) --set show=modes -o page.html": "--set changes settings of a page; name it with --lesson start, explore,",
    "export --lesson gradients --set momentum=1 -o page.html": "'momentum' is not a setting of gradients; its settings are show or input",
    "export --lesson explore --set momentum=1 -o page.html": "explore has no settings of its own; leave out --set.",
    "export --lesson gradients --set show=none -o page.html": "show='none' is unknown; choose column, matrix",
    "export --lesson gradient -o page.html": "--lesson 'gradient' is unknown. Did you mean gradients?",
    "export --lesson s0 LayerNorm(4) -o page.html": "--lesson s0 determines what is shown; leave layer out",
    "export --link /compare --shape 2,3 -o page.html": "--link determines what is shown; leave --shape out",
    "export --link /unheard -o page.html": "does not name a page; choose start, explore,",
    "export --fixed --lesson gradients --layers LayerNorm(4) LayerNorm(3) -o page.html": "shows one layer",
    "export --fixed LayerNorm(4) --shapes 5,7 -o page.html": "--fixed gives a single view; leave --shapes and --app out",
    "export --fixed LayerNorm(4) --app https://example.org -o page.html": "leave --shapes and --app out",
    "export LayerNorm(4) --app nope -o page.html": "--app 'nope' is not a web address; begin it with https://",
    "export --tour normalized-shape --shapes 5,7 -o page.html": "has no tensor to choose; leave --shapes out",
    "export --lesson numerics --shapes 5,7 -o page.html": "has no tensor to choose; leave --shapes out",
    "export --link /practice?seed=1&count=2 --shapes 2,3 -o page.html": "has no tensor to choose; leave --shapes out",
    "export LayerNorm(4) --shapes 5,x -o page.html": "shape='5,x' is not a list of numbers",
    "export LayerNorm(4) --shapes 1,1,1,1,1,1,1,1,1,1,1,1,1 -o page.html": "a view shows at most 12 axes",
    "export LayerNorm(4) --app javascript:alert(1) -o page.html": "is not a web address; begin it with https://",
    "export --layers LayerNorm(4) Nonsense -o page.html": "Nonsense",
    "image LayerNorm(4) -o page.gif": "must end in .png, .svg or .pdf",
    "image LayerNorm(4) -o none/page.png": "create it first",
    "image --lesson compare --width 0 -o page.png": "must be from 1 to",
    "site none/site": "create it first, or write to another place",
    "site site --only unheard": "'unheard' is neither a page, a question nor a ready-made set",
    "site site --theme blue": "invalid choice: 'blue'",
    "site . --zip": "--zip needs a directory with a name of its own",
    "plotlyjs none/x.js": "create it first",
}  # fmt: skip


@pytest.mark.parametrize("arguments", WRONG, ids=[" ".join(each.split())[:60] for each in WRONG])
def test_an_error_is_one_line_with_a_remedy(run, tmp_path, arguments):
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("normviz: ")
    assert WRONG[arguments] in err
    assert os.listdir(tmp_path) == []


def test_a_tensor_that_is_too_large_to_compute_is_exported_without_values(run, tmp_path):
    arguments = ("LayerNorm(96)", "--shape", "8,56,56,96", "--layout", "NHWC")
    assert run("export", "--fixed", *arguments, "-o", "page.html", *CDN)[0] == 0
    assert "This tensor is too large to compute values here." in (tmp_path / "page.html").read_text()


def test_an_error_keeps_an_existing_file(run, tmp_path):
    (tmp_path / "page.html").write_text("old")
    assert run("export", "LayerNorm(5)", "-o", "page.html")[0] == 2
    assert (tmp_path / "page.html").read_text() == "old"


def test_a_full_disk_is_one_line(run, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        code, _, err = run("export", "LayerNorm(4)", "-o", "page.html", *CDN)
        site = run("site", "site", "--only", "s0")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (code, err) == (2, "normviz: 'page.html' cannot be written (File too large); write to another place.\n")
    assert site == (2, "", "normviz: 'site' cannot be written (File too large); write to another place.\n")
    assert os.listdir(tmp_path) == []


def test_a_progress_bar_is_shown_only_on_a_terminal(run, monkeypatch):
    assert run("site", "one", "--only", "s0")[2] == ""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["site", "two", "--only", "s0", "s0a"]) == 0
    assert "0/2 [" in sys.stderr.getvalue()


def test_an_unexpected_error_is_raised_and_leaves_no_file(run, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "index_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("site", "site", "--only", "s0")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_arguments_stay_text(run, tmp_path, text):
    export = ("export", "--fixed", "LayerNorm(4)", *CDN)
    run(*export, "-o", "plain.html", "--title", "word", "--caption", "word")
    plain = (tmp_path / "plain.html").read_text()
    name = text.replace("/", "_") + ".html"
    assert run(*export, f"--out={name}", f"--title={text}", f"--caption={text}")[0] == 0
    html = (tmp_path / name).read_text()
    same_structure(html, plain)
    assert Structure(html).text.count(text) == 3  # title, heading, caption
    for option in (
        "--shape",
        "--layout",
        "--data",
        "--params",
        "--at",
        "--seed",
        "--values",
        "--lesson",
        "--theme",
        "--layers",
    ):
        code, out, err = run("export", "-o", "wrong.html", f"{option}={text}")
        assert (code, out, len(err.splitlines())) == (2, "", 1), option
    assert not (tmp_path / "wrong.html").exists()
    assert run("export", "--fixed", "-o", "linked.html", *CDN, f"--link=/{text}/?layer=LayerNorm(4)")[0] in (
        0,
        2,
    )  # any folder may hold the app
    if (tmp_path / "linked.html").exists():
        assert "alert" not in (tmp_path / "linked.html").read_text()


def test_control_characters_do_not_reach_the_terminal(run):
    _, _, err = run("export", "LayerNorm(4)", "--\x1b[31mred")
    assert "\x1b" not in err


def test_help_and_version(run):
    code, out, _ = run("--help")
    assert code == 0
    assert {"export", "image", "site", "plotlyjs"} <= set(out.split())
    assert run("--version") == (0, f"normviz {nv.__version__}\n", "")
    for name in ("export", "image", "site", "plotlyjs"):
        assert run(name, "--help")[0] == 0


def test_python_m_normviz_is_the_same_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "normviz", "export", "LayerNorm(5)", "-o", str(tmp_path / "page.html")],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("normviz: ")
    assert len(done.stderr.splitlines()) == 1  # no progress bar without a terminal


@pytest.mark.parametrize(("page", "count"), [("README.md", 3), ("docs/static-site.md", 3), ("docs/embedding.md", 3)])
def test_every_command_in_the_documentation_is_valid(page, count):
    lines = re.findall(
        r"^normviz ((?:export|image|site|plotlyjs|norms) .+?)(?: +#.*)?$",
        (ROOT / page).read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(lines) >= count
    for line in lines:
        assert _parser().parse_args(shlex.split(line)).run
