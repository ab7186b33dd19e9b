"""The static site: it has every page, every link leads to one of its files, and it loads nothing else."""

import fcntl
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from normviz.export import files
from normviz.export import site as site_module
from normviz.export.assets import plotly_js
from normviz.export.site import build, entries, pack
from normviz.lessons.compare.page import READY_SETS
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import CORE, LONGEST_SEARCH, MERGED, QUESTIONS
from normviz.lessons.questions.question import answer, facts_of, prose, search_text
from normviz.lessons.questions.sources import PAPERS, paper
from normviz.texts.errors import NormvizError
from tests.support.needs import whole
from tests.support.structure import Structure, answers_of

PAGE = 320_000  # bytes of the largest page: a figure of 32 x 32 facets
PRACTICE = 420_000  # bytes of the page that carries all exercises
PLAYED = 225_000  # bytes, compressed, of the largest page that answers its controls: each of its views has a formula and loops


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("all") / "site"
    build(place)
    return place


PLAYABLE = {"explore.html", "compare.html", "step_by_step.html", "train_and_eval.html", "models.html"}


@whole
def test_pages_with_controls_have_the_views_of_their_controls(site):
    for name in PLAYABLE:
        packed = answers_of(read(site, name))
        assert packed["page"] == name.removesuffix(".html")
        assert len(packed["views"]) > 30
        links = re.findall(r'nv-go\b[^>]*href=\\"([^"\\]*)', " ".join(map(json.dumps, packed["pool"])))
        assert links
        assert all((site / address).is_file() for address in links)  # questions; there is no app to link to


def read(place: Path, name: str = "index.html") -> str:
    return (place / name).read_text(encoding="utf-8")


PLANNED = {f"plan-{page}.html" for page in PAGES if PAGES[page].plan}


@pytest.fixture(scope="module")
def pages(site) -> dict[str, Structure]:
    """The pages of the site by their file names, without the copies under old names."""
    copies = {f"question-{key}.html" for key in MERGED}
    return {
        path.name: Structure(read(site, path.name)) for path in sorted(site.glob("*.html")) if path.name not in copies
    }


def test_there_are_pages_for_every_question_and_set_some_with_controls_and_an_index(pages):
    listed = {f"question-{key}.html" for key in QUESTIONS} | {f"compare-{key}.html" for key in READY_SETS}
    assert set(pages) == listed | PLAYABLE | PLANNED | {
        "start.html",
        "story.html",
        "all_layers.html",
        "practice.html",
        "teach.html",
        "index.html",
    }


@whole
def test_a_link_with_an_old_key_opens_the_question_that_took_over(site):
    assert {
        key for key, now in MERGED.items() if read(site, f"question-{key}.html") != read(site, f"question-{now}.html")
    } == set()
    index = read(site)
    assert not any(f"question-{key}.html" in index for key in MERGED)


def test_every_link_is_relative_and_leads_to_a_file_of_the_site(site, pages):
    names = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    sources = {source.address for one in QUESTIONS.values() for source in one.sources} | {
        paper(name).address for name in PAPERS
    }
    for name, page in pages.items():
        for address in page.addresses:
            if address.startswith(("data:image/", "#")) or address in sources:
                continue
            assert urlsplit(address)[:2] == ("", ""), (name, address)
            assert re.split("[#?]", address)[0] in names, (name, address)


def test_a_shared_file_exists_once_and_is_named_after_its_hash(site, pages):
    shared = {path.name: path.read_bytes() for path in (site / "lib").iterdir()}
    assert len(shared) == 3
    for name, content in shared.items():
        assert sha256(content).hexdigest()[:12] in name
    assert plotly_js() in shared.values()
    sizes = {name: len(read(site, name)) for name in pages if name not in PLAYABLE}
    assert 200_000 < sizes.pop("practice.html") < PRACTICE
    assert max(sizes.values()) < PAGE
    assert all(len(gzip.compress(read(site, name).encode())) < PLAYED for name in PLAYABLE)
    assert sorted(sizes.values())[len(sizes) // 2] < 20_000


def test_there_are_no_modules_because_browsers_do_not_load_them_from_disk(site, pages):
    for name in pages:
        assert 'type="module"' not in read(site, name)
    (script,) = (path.read_text() for path in (site / "lib").glob("normviz-*.js"))
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


def test_the_index_links_to_every_page_and_searches_the_same_words_as_the_app(pages):
    index = pages["index.html"]
    assert set(pages) - {"index.html"} - PLANNED <= set(index.addresses)
    assert set(pages["teach.html"].addresses) >= PLANNED
    assert all(f"plan-{name}.html" in pages[f"{name}.html"].addresses for name in ("explore", "story", "all_layers"))
    words = [dict(attrs)["data-words"] for attrs in index.attributes if "data-words" in dict(attrs)]
    searched = list(map(search_text, QUESTIONS.values()))
    assert [text for text in words if text in searched] == searched
    order = [address for address in index.addresses if address.startswith("question-")]
    assert order[: len(CORE)] == [f"question-{key}.html" for key in CORE]
    assert len(words) == len(QUESTIONS) + len(READY_SETS)


def test_an_error_in_any_page_can_be_reported(site, pages):
    assert [name for name in pages if '<div class="ns-report" data-to=""></div>' not in read(site, name)] == []


@whole
def test_a_question_has_its_choices_its_answer_and_what_is_right(site):
    for key in ("s0", "s0b", "q22"):
        html, words, one = read(site, f"question-{key}.html"), prose(key), QUESTIONS[key]
        assert html.count('type="radio"') == len(words.options)
        assert f'data-right="{facts_of(one)["right"]}"' in html
        said = re.sub(r"[*`\s]", "", answer(one))
        assert said in re.sub(r"\s", "", Structure(html).text)
        before, _, after = html.partition('<details class="nv-answer">')
        assert 'class="nv-figure"' not in before  # predict first
        assert 'class="nv-figure"' in after or 'class="nv-table-box"' in after


def test_the_answer_of_a_question_opens_without_scripts(site):
    html = read(site, "question-s0.html")
    assert re.search(r"<details class=\"nv-answer\"><summary><span class=\"nv-show\">Show the answer</span>", html)
    assert "The figures need JavaScript." in html
    assert re.search(r'<div class="ns-search" hidden>', read(site))  # the search needs scripts
    assert f'maxlength="{LONGEST_SEARCH}"' in read(site)  # as in the app: an error message of torch fits


def test_pages_link_to_the_next_in_the_order_of_the_index(site):
    order = [entry.file for entry in entries()]
    for at, name in enumerate(order):
        html = read(site, name)
        before, after = (re.findall(rf'rel="{way}" href="([^"]+)"', html) for way in ("prev", "next"))
        assert before == order[max(0, at - 1) : at]
        assert after == order[at + 1 : at + 2]


def test_every_page_has_one_title_one_heading_and_names_for_its_parts(site, pages):
    titles = [re.findall(r"<title>(.*?)</title>", read(site, name)) for name in pages]
    assert all(len(title) == 1 for title in titles)
    assert len({title[0] for title in titles}) == len(titles)
    for name, page in pages.items():
        assert [tag[0] for tag in page.tags].count("h1") == 1, name
        assert "main" in [tag[0] for tag in page.tags], name


def test_only_builds_some_pages(tmp_path):
    made = build(tmp_path / "site", only=["s0", "four"], theme="dark")
    assert sorted(os.listdir(tmp_path / "site")) == [
        "compare-four.html",
        "index.html",
        "lib",
        "question-s0.html",
        "site.json",
    ]
    assert {
        path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*") if path.is_file()
    } == set(made)
    assert 'data-theme="dark"' in read(tmp_path / "site")
    assert os.listdir(tmp_path) == ["site"]


def test_a_site_replaces_an_older_one_and_deletes_its_unused_files(tmp_path):
    build(tmp_path / "site", only=["s0", "s0a"])
    old = tmp_path / "site" / "lib" / "plotly-0.0.0-000000000000.min.js"
    old.write_text("")
    names = json.loads(read(tmp_path / "site", "site.json"))
    (tmp_path / "site" / "site.json").write_text(json.dumps({**names, "files": [*names["files"], "lib/" + old.name]}))
    build(tmp_path / "site", only=["s0"], theme="light")
    assert not (tmp_path / "site" / "question-s0a.html").exists()
    assert not old.exists()
    assert 'data-theme="light"' in read(tmp_path / "site", "question-s0.html")


def test_a_directory_with_other_files_needs_force_and_they_are_never_changed(tmp_path):
    place = tmp_path / "site"
    place.mkdir()
    (place / "CNAME").write_text("example.org")
    with pytest.raises(
        NormvizError,
        match="has other files, such as 'CNAME'; name a new directory, or use --force to add the site to them",
    ):
        build(place, only=["s0"])
    assert os.listdir(place) == ["CNAME"]
    build(place, only=["s0"], force=True)
    assert (place / "CNAME").read_text() == "example.org"
    assert "question-s0.html" in os.listdir(place)
    with pytest.raises(NormvizError, match="CNAME"):
        build(place, only=["s0"])


@pytest.mark.parametrize(
    "listed",
    [
        '{"files": ["../keep.html", "/etc/hostname"]}',
        "[]",
        "nonsense",
        '{"files": 3}',
        '{"files": [3]}',
        '{"files": ' + "[" * 90_000,
    ],
)
def test_an_invalid_list_of_files_deletes_nothing(tmp_path, listed):
    place = tmp_path / "site"
    place.mkdir()
    (tmp_path / "keep.html").write_text("keep")
    (place / "site.json").write_text(listed)
    build(place, only=["s0"], force=True)
    assert (tmp_path / "keep.html").read_text() == "keep"
    assert "index.html" in os.listdir(place)


def test_nothing_outside_the_directory_is_deleted_or_replaced_through_a_link(tmp_path):
    place, outside = tmp_path / "site", tmp_path / "out"
    place.mkdir()
    outside.mkdir()
    (outside / "victim.txt").write_text("keep")
    (place / "link").symlink_to(outside)
    (place / "site.json").write_text('{"files": ["link/victim.txt"]}')
    build(place, only=["s0"], force=True)
    assert (outside / "victim.txt").read_text() == "keep"
    shutil.rmtree(place / "lib")
    (place / "lib").symlink_to(outside)
    with pytest.raises(NormvizError, match=r"lib' is a link to another directory; remove it"):
        build(place, only=["four"], force=True)
    assert os.listdir(outside) == ["victim.txt"]


def whole_site(place: Path) -> set[str]:
    """The pages of the directory, which has exactly the files of its list."""
    files = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    assert files == set(json.loads(read(place, "site.json"))["files"])
    return {name for name in files if name.endswith(".html")}


def test_of_two_sites_at_once_the_later_one_is_left_whole(tmp_path):
    place = tmp_path / "site"

    def while_the_other_is_written(pages):
        build(place, only=["four"])
        assert whole_site(place) == {"index.html", "compare-four.html"}
        return pages

    build(place, only=["s0"], progress=while_the_other_is_written)
    assert whole_site(place) == {"index.html", "question-s0.html"}
    assert os.listdir(tmp_path) == ["site"]


def test_a_site_is_moved_while_no_other_one_is(tmp_path, monkeypatch):
    move, tried = site_module._move, []

    def moved(*arguments):
        handle = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(handle)
        tried.append(arguments)
        move(*arguments)

    monkeypatch.setattr(site_module, "_move", moved)
    build(tmp_path / "site", only=["s0"])
    build(tmp_path / "site", only=["s0"])  # the first one has left no lock
    assert len(tried) == 2


def test_without_locks_as_on_windows_sites_are_written_too(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)
    build(tmp_path / "site", only=["s0"])
    without = "import sys; sys.modules['fcntl'] = None; import normviz.export.site"
    subprocess.run([sys.executable, "-c", without], cwd=Path(__file__).parents[3], check=True)


def test_ctrl_c_while_an_older_site_is_replaced_leaves_the_new_one(tmp_path, monkeypatch):
    build(tmp_path / "site", only=["s0", "four"])
    replace, moved = Path.replace, []

    def interrupted(source, target):
        moved.append(replace(source, target))
        if len(moved) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "site", only=["s0"], theme="dark")
    assert whole_site(tmp_path / "site") == {"index.html", "question-s0.html"}
    assert all('data-theme="dark"' in read(tmp_path / "site", name) for name in ("index.html", "question-s0.html"))
    assert os.listdir(tmp_path) == ["site"]


def test_an_existing_file_is_not_a_directory(tmp_path):
    (tmp_path / "site").write_text("")
    with pytest.raises(NormvizError, match="is a file; name a directory"):
        build(tmp_path / "site")


@whole
def test_the_zip_has_its_files_at_the_top_and_the_same_bytes_each_time(tmp_path):
    for name in ("a", "b"):
        made = build(tmp_path / name, only=["s0", "q22"])
        pack(tmp_path / name, made, tmp_path / f"{name}.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None
        assert sorted(made) == archive.namelist()
        assert "index.html" in archive.namelist()
        assert archive.read("index.html") == (tmp_path / "a" / "index.html").read_bytes()
        assert all(entry.external_attr >> 16 == 0o644 for entry in archive.infolist())


def test_a_page_links_to_the_app_if_its_address_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "https://example.org/lab/")
    build(tmp_path / "site", only=["s0a"])
    assert 'href="https://example.org/lab/compare?shape=2,3,4,4&amp;layers=' in read(
        tmp_path / "site", "question-s0a.html"
    )


def test_a_wrong_address_of_the_app_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "javascript:alert(1)")
    with pytest.raises(
        NormvizError, match=r"NORMVIZ_URL='javascript:alert\(1\)' is not a web address; begin it with https://"
    ):
        build(tmp_path / "site", only=["s0a"])
    assert list(tmp_path.iterdir()) == []


def test_start_here_leads_on_to_practice_alone(site):
    links = re.findall(r'class="nv-go[ "][^>]*href="([^"]*)"', read(site, "start.html"))
    assert links == ["practice.html", "plan-start.html"]


@whole
def test_the_story_leads_on_to_practice_and_the_script_draws_its_figures(site):
    links = re.findall(r'class="nv-go[^"]*" [^>]*href="([^"]*)"', read(site, "story.html"))
    assert links == ["practice.html", "plan-story.html"]
    (script,) = (path.read_text() for path in (site / "lib").glob("normviz-*.js"))
    assert read(site, "story.html").count('class="nv-story-figure"') == 8
    assert '".nv-story-figure"' in script


def test_the_index_begins_with_the_front_page(site, pages):
    front = read(site).partition('class="ns-topic"')[0]
    assert f"<h1>{escape(PAGES['home'].heading[0])}</h1>" in front
    assert front.count('class="nv-toy"') == 1
    assert 'class="nv-doors"' in front
    assert 'href="#questions"' in front
    assert 'id="questions"' in read(site)
    assert "<form" not in read(site)  # nothing would read the field


def test_with_the_address_of_the_app_the_front_page_has_a_field(tmp_path, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "https://norm.example.org/lab/")
    build(tmp_path / "site", only=["explore", "s0"])
    index = read(tmp_path / "site")
    assert '<form class="nv-front-field" action="https://norm.example.org/lab/explore">' in index
    assert 'href="explore.html"' in index  # of the site itself
    assert 'href="https://norm.example.org/lab/numerics"' in index
