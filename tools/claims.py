"""The claims of the texts: general sentences, each with the predicate of `tests/claims` that tries to refute it.

An English file in `normviz/locale/en/` lists its claims in its front matter, a sentence (or a part of one) after the name of a predicate:

    ---
    claims:
      - zeros_stay_zeros: zeros minus their mean are zeros
    ---

A sentence that no program can try has another name before it: the key of the paper that states it (`PAPERS`), or `common` for what is
usual or a matter of words. The claims of messages and of docs stand in `normviz/locale/en/claims.yaml`, under the name of their file.

    python -m tools.claims            list the claims by subject
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from normviz.lessons.questions.sources import PAPERS
from normviz.texts.languages import FRONT_MATTER
from tools.translations import ENGLISH, prose_files, python_messages, script_messages

ROOT = Path(__file__).resolve().parents[1]
OTHER_TEXTS = ENGLISH / "claims.yaml"
MESSAGES = {".py": python_messages, ".ts": script_messages}
COMMON = "common"


@dataclass(frozen=True)
class Claim:
    """A claim: its file, the sentence, and the name of its predicate or source."""

    file: str
    sentence: str
    name: str

    @property
    def has_source(self) -> bool:
        """Whether it is no subject of a predicate."""
        return self.name == COMMON or self.name in PAPERS


def claims() -> Iterator[Claim]:
    """All claims, file by file."""
    for path in prose_files():
        if found := FRONT_MATTER.match((ENGLISH / path).read_text(encoding="utf-8")):
            listed = yaml.safe_load(found[1]).get("claims", [])
            yield from _read((ENGLISH / path).relative_to(ROOT).as_posix(), listed)
    for path, listed in yaml.safe_load(OTHER_TEXTS.read_text(encoding="utf-8")).items():
        yield from _read(path, listed)


def _read(file: str, listed: list[dict[str, str]]) -> Iterator[Claim]:
    return (Claim(file, " ".join(text.split()), name) for entry in listed for name, text in entry.items())


def text_of(file: str) -> str:
    """What a reader sees of a file, on one line: the messages of code, or the prose without its front matter."""
    path = ROOT / file
    source = path.read_text(encoding="utf-8")
    if messages := MESSAGES.get(path.suffix):
        forms = ((message,) if isinstance(message, str) else message for message in messages(source))
        source = "\n\n".join(form for message in forms for form in message)
    text = FRONT_MATTER.sub("", source)
    return " ".join(re.sub("^> ?", "", text, flags=re.MULTILINE).split())


def main() -> None:
    from tests.claims.predicates import load

    found, predicates = list(claims()), load()
    by_name = {name: [claim for claim in found if claim.name == name] for name in (*predicates, *PAPERS, COMMON)}
    subject = ""
    for name, listed in by_name.items():
        if not listed:
            continue
        predicate = predicates.get(name)
        heading = predicate.subject if predicate else "Without a predicate"
        if heading != subject:
            print(f"\n{heading}" if subject else heading)
            subject = heading
        print(f"  {name}: {predicate.states}" if predicate else f"  {name}")
        for claim in listed:
            print(f"    {claim.file}: {claim.sentence}")
    tested = sum(not claim.has_source for claim in found)
    print(f"\n{len(found)} claims, {tested} with one of {len(predicates)} predicates.")


if __name__ == "__main__":
    main()
