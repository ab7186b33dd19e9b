"""docs/embedding.md and docs/notebooks.md have a picture of each embedding."""

import re

from tools.embeddings import GUIDES, ROOT


def test_the_guides_show_a_picture_of_each_embedding():
    text = "".join(guide.read_text(encoding="utf-8") for guide in GUIDES)
    pictures = re.findall(r"!\[[^\]]+\]\((images/embed-[\w-]+\.png)\)", text)
    assert len(pictures) == 8
    for picture in pictures:
        assert (ROOT / "docs" / picture).stat().st_size < 150_000
