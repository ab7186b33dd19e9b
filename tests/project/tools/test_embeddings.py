"""docs/embedding.md has a picture of each embedding."""

import re

from tools.embeddings import GUIDE, ROOT


def test_the_guide_shows_a_picture_of_each_embedding():
    pictures = re.findall(r"!\[[^\]]+\]\((images/embed-[\w-]+\.png)\)", GUIDE.read_text(encoding="utf-8"))
    assert len(pictures) == 8
    for picture in pictures:
        assert (ROOT / "docs" / picture).stat().st_size < 150_000
