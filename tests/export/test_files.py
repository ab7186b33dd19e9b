"""A file is written completely or not at all."""

import os
import resource
import stat
import sys

import pytest

from normviz.export.files import check_writable, whole_file, write
from normviz.texts.errors import NormvizError


def test_writing_leaves_only_the_written_file(tmp_path):
    write(tmp_path / "page.html", "häß\n")
    assert (tmp_path / "page.html").read_bytes() == "häß\n".encode()
    assert os.listdir(tmp_path) == ["page.html"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o666 & ~mask


def test_an_existing_file_is_replaced_and_keeps_its_permissions_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "old.html").write_text("old")
    (tmp_path / "old.html").chmod(0o640)
    (tmp_path / "link.html").symlink_to("old.html")
    write(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "old.html").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "old.html").stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError, OSError])
def test_an_error_keeps_the_existing_file_and_leaves_no_partial_file(tmp_path, error):
    path = tmp_path / "page.html"
    path.write_text("old")

    def interrupted():
        with whole_file(path) as place:
            place.write_text("half")
            raise error

    with pytest.raises((error, NormvizError)):
        interrupted()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_full_disk_raises_an_error_and_leaves_no_file(tmp_path):
    """A limit on the file size simulates a full disk: writing fails midway."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(NormvizError, match=r"cannot be written \(File too large\); write to another place"):
            write(tmp_path / "page.html", "x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == []


def test_a_dash_is_the_standard_output(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("-", "page")
    sys.stdout.flush()
    assert capfd.readouterr().out == "page"
    assert os.listdir(tmp_path) == []


def test_a_device_is_written_to_directly(capfd):
    write("/dev/stdout", "page")
    assert capfd.readouterr().out == "page"
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    write("/dev/null", "page")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(NormvizError, match="No space left on device"):
        write("/dev/full", "page")


WRONG = {
    "folder": "is a directory; name a file in it",
    "none/page.html": "there is no directory .*none'; create it first",
    "file/page.html": "is not a directory; write to another place",
    "\0.html": "cannot be written",
    "x" * 300: "cannot be written",
    "loop.html": "cannot be written|there is no directory",
}


@pytest.mark.parametrize("name", WRONG, ids=range(len(WRONG)))
def test_a_path_that_cannot_be_written_raises_an_error(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "loop.html").symlink_to("loop.html/loop.html")
    with pytest.raises(NormvizError, match=WRONG[name]):
        write(tmp_path / name, "page")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "loop.html"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(NormvizError, match="Permission denied"):
        check_writable(tmp_path / "page.html")
    tmp_path.chmod(0o700)
