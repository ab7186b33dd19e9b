"""An error of the command is one line with a remedy, and leaves no file; hostile arguments stay text."""

import os
import resource

import pytest

from normviz.export import site
from tests.support.structure import HOSTILE, Structure, same_structure

CDN = ("--plotlyjs", "cdn")

WRONG = {
    "": "COMMAND; normviz --help lists",
    "--unheard": "normviz --help lists",
    "export LayerNorm(4) -o page.html --unheard": "unrecognized arguments: --unheard",
    "export LayerNorm(4)": "required: -o/--out; normviz export --help lists",
    "exprt LayerNorm(4)": "exprt is unknown. Did you mean export?",
    "layernorm": "invalid choice: 'layernorm' (choose from 'explain', 'export',",
    "explain": "the following arguments are required: LAYER; normviz explain --help lists the arguments.",
    "explain nn.LayerNorm()": "LayerNorm needs normalized_shape, as in LayerNorm([3, 4, 4]).",
    "explain nn.LayerNrm --shape 2,4": "Nearest to it is LayerNorm.",
    "explain nn.BatchNorm2d": "BatchNorm2d needs num_features, as in BatchNorm2d(3).",
    "explain x": "'x': what is read here is a layer, such as LayerNorm(96) on (8, 96, 56, 56)",
    "explain LayerNorm(5) --shape 2,4": "normalized_shape must be the last sizes of x, here [4] or [2, 4].",
    "explain LayerNorm(4) --shape 2x4": "shape='2x4' is not a list of numbers; write shape=2,4,3,5.",
    "explain LayerNorm(4) --shap 2,4": "--shap is unknown. Did you mean --shape?",
    "explain LayerNorm(4) --code pytorch": "--code pytorch is unknown. Did you mean torch?",
    "explain LayerNorm(4) --code rust": "invalid choice: 'rust' (choose from 'torch',",
    "explain LayerNorm(4) 2,4": "unrecognized arguments: 2,4; normviz explain --help lists the arguments.",
    "check torch.nn.functional:layer_norm": "required: --shape; normviz check --help lists the arguments.",
    "check torch.nn.functional --shape 2,4": "does not name what is in a module; write MODULE:NAME or FILE.py:NAME",
    "check torch.nn.functional:layernorm --shape 2,4": "has no 'layernorm'. Did you mean layer_norm?",
    "check torch.nn.functional:layer_norm --shape 2,4": "the function raises on an x of shape (2, 4): TypeError: layer_norm() missing 1 required",
    "check torch.nn.functional:gelu --shape 2,4 --like LayerNorm": "LayerNorm needs normalized_shape, as in LayerNorm([4]).",
    "check torch.nn.functional:gelu --shape 2,4 --params gamma": "is not a list of arguments; write --params gamma=ones,beta=zeros.",
    "check torch.nn:LayerNorm --shape 2,4": "LayerNorm is a class; name an instance of it, such as norm = LayerNorm(...) in the module.",
    "check submission.py:layer_norm --shape 2,4": "there is no file 'submission.py'.",
    "norms torch.nn:Transformer": "give the shape of each input of the model, such as --input 1,3,224,224.",
    "norms torch.nn:LayerNorm --input 2,4": "name a function without arguments that makes the model.",
    "practice --count 0": "count='0' must be a whole number from 1 to",
    "practice --format qti": "--format qti writes a file; name it with -o FILE.",
    "practice --format moodel": "--format moodel is unknown. Did you mean moodle?",
    "norms torch.nn:LayerNorm --shape 2,4": "--shape is unknown. Did you mean --input?",
    "practice --kind build": "--kind is unknown. Did you mean --kinds?",
    "export --page practice --shape 2,4 -o page.html": "--page practice determines what is shown; leave --shape out.",
    "export --page models LayerNorm(4) -o page.html": "--page models determines what is shown; leave layer out.",
    "image --page practice -o page.svg": "no figure",
    "export -o page.html": "nothing to show; name a layer",
    "export LayerNorm([3,4,4]) --shape 2,3,4,5 -o page.html": "normalized_shape must be the last sizes of x, here",
    "export LayerNorm(96) --shape 8,96,56,56 -o page.html": "to normalize over it, move it to the end (x.movedim(1, -1)), or use a module of your own (ChannelsFirstLayerNorm here; torch.nn has none).",
    "export --page step_by_step LayerNorm(4) --shape 1099511627776,1099511627776,4 -o page.html": "groups are too many to number",
    "export batchnorm2d(3) -o page.html": "'batchnorm2d' is not a layer of the catalogue. Did you mean BatchNorm2d?",
    "export --link /?shap=2,3 -o page.html": "'shap' is not a setting of a link. Did you mean shape?",
    "export --link /comparee -o page.html": "does not name a page. Did you mean compare?",
    "export --link http://[::1/?shape=2,3 -o page.html": "link='http://[::1/?shape=2,3' is not a web address; copy it again.",
    "export --link http://example.com -o page.html": "names neither a page nor a setting, so it may be a link to another site",
    "export --layers LayerNorm(4) LayerNorm(5) -o page.html": "normalized_shape must be the last sizes",
    "export Nonsense(4) -o page.html": "Nonsense",
    "export LayerNorm(4) --shape 2,x -o page.html": "shape='2,x' is not a list of numbers; write shape=2,4,3,5",
    "export LayerNorm(4) --at 9,9,9,9 -o page.html": "is not an element of a tensor of shape",
    "export LayerNorm(4) --theme blue -o page.html": "invalid choice: 'blue'",
    "export LayerNorm(4) --plotlyjs javascript:alert(1) -o page.html": "is not a location of plotly.js; write inline, cdn",
    f"export LayerNorm(4) --caption {'x' * 301} -o page.html": "is too long; use at most 300 characters",
    f"export --fixed LayerNorm(4) --title {'x' * 301} -o page.html": "is too long; use at most 300 characters",
    "export LayerNorm(4) -o page.pdf": "'page.pdf' is not a web page; end it in .html, or use normviz image",
    "export LayerNorm(4) -o none/page.html": "create it first, or write to another place",
    "export LayerNorm(4) -o .": "is a directory; name a file in it",
    "export --fixed LayerNorm(4) -o /proc/page.html": "cannot be written",
    "export LayerNorm(4) --hide nonsense -o page.html": "hide='nonsense' is not the name of a control or a part",
    "export --page s0 --hide code -o page.html": "a question is always shown whole; leave --hide out",
    "export --page unheard -o page.html": "--page 'unheard' is unknown; choose home, start, story, explore,",
    "export LayerNorm(4) --set show=modes -o page.html": "--set changes settings of a page; name it with --page home, start, story, explore,",
    "export --page gradients --set momentum=1 -o page.html": "'momentum' is not a setting of gradients; its settings are show or input",
    "export --page explore --set momentum=1 -o page.html": "explore has no settings of its own; leave out --set.",
    "export --page gradients --set show=none -o page.html": "show='none' is unknown; choose column, matrix",
    "export --page gradient -o page.html": "--page 'gradient' is unknown. Did you mean gradients?",
    "export --page s0 LayerNorm(4) -o page.html": "--page s0 determines what is shown; leave layer out",
    "export --link /compare --shape 2,3 -o page.html": "--link determines what is shown; leave --shape out",
    "export --link /unheard -o page.html": "does not name a page; choose start, story, explore,",
    "export --fixed --page gradients --layers LayerNorm(4) LayerNorm(3) -o page.html": "shows one layer",
    "export --fixed LayerNorm(4) --shapes 5,7 -o page.html": "--fixed gives a single view; leave --shapes and --app out",
    "export --fixed LayerNorm(4) --app https://example.org -o page.html": "leave --shapes and --app out",
    "export LayerNorm(4) --app nope -o page.html": "--app 'nope' is not a web address; begin it with https://",
    "export --tour normalized-shape --shapes 5,7 -o page.html": "has no tensor to choose; leave --shapes out",
    "export --tour normalized-shape --fixed -o page.html": "--tour determines what is shown; leave --fixed out",
    "export --page numerics --shapes 5,7 -o page.html": "has no tensor to choose; leave --shapes out",
    "export --link /practice?seed=1&count=2 --shapes 2,3 -o page.html": "has no tensor to choose; leave --shapes out",
    "export LayerNorm(4) --shapes 5,x -o page.html": "shape='5,x' is not a list of numbers",
    "export LayerNorm(4) --shapes 1,1,1,1,1,1,1,1,1,1,1,1,1 -o page.html": "a view shows at most 12 axes",
    "export LayerNorm(4) --app javascript:alert(1) -o page.html": "is not a web address; begin it with https://",
    "practice --app javascript:alert(1)//": "--app 'javascript:alert(1)//' is not a web address; begin it with https://",
    "practice --format moodle -o set.xml --app nope": "--app 'nope' is not a web address; begin it with https://",
    "export --layers LayerNorm(4) Nonsense -o page.html": "Nonsense",
    "image LayerNorm(4) -o page.gif": "must end in .png, .svg or .pdf",
    "image LayerNorm(4) -o none/page.png": "create it first",
    "image --page compare --width 0 -o page.png": "must be from 1 to",
    "site none/site": "create it first, or write to another place",
    "site site --only unheard": "'unheard' is neither a page, a question nor a ready-made set",
    "site site --theme blue": "invalid choice: 'blue'",
    "site site --theme drak": "--theme drak is unknown. Did you mean dark?",
    "site -": "a site has many files; name a directory for them",
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


def test_an_error_keeps_an_existing_file(run, tmp_path):
    (tmp_path / "page.html").write_text("old")
    assert run("export", "LayerNorm(5)", "--shape", "2,3", "-o", "page.html")[0] == 2
    assert (tmp_path / "page.html").read_text() == "old"


def test_a_full_disk_is_one_line(run, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        code, _, err = run("export", "--fixed", "LayerNorm(4)", "-o", "page.html", *CDN)
        site = run("site", "site", "--only", "s0")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (code, err) == (2, "normviz: 'page.html' cannot be written (File too large); write to another place.\n")
    assert site == (2, "", "normviz: 'site' cannot be written (File too large); write to another place.\n")
    assert os.listdir(tmp_path) == []


def test_an_unexpected_error_is_raised_and_leaves_no_file(run, tmp_path, monkeypatch):
    monkeypatch.setattr(site, "index_page", lambda *_: 1 / 0)
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
        "--page",
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
        assert "alert(" not in (tmp_path / "linked.html").read_text()


def test_control_characters_do_not_reach_the_terminal(run):
    _, _, err = run("export", "LayerNorm(4)", "--\x1b[31mred")
    assert "\x1b" not in err
