"""A set for each student: the roster of a course as CSV, and the seed of each student's set, which follows from a key and the name."""

import csv
import hmac
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from unicodedata import normalize

from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.exercise import Exercise
from normviz.texts.errors import NormvizError, echo
from normviz.texts.marked import Marked, decoded
from normviz.texts.messages import ngettext

COLUMN = "name"
KEY = "normviz"  # of a course without a key of its own
MOST_NAME = 200  # characters
MOST_DRAWS = 200  # until a student has a set that nobody else has
BITS = 31  # of a seed


@dataclass(frozen=True)
class StudentSet:
    """The exercises of a student, and the seed that chooses them."""

    name: str
    seed: int
    exercises: tuple[Exercise, ...]

    @property
    def key(self) -> str:
        """The identifier of the set."""
        return f"{self.seed:08x}"


def read_roster(content: bytes, file: str) -> list[str]:
    """The names in a CSV file (RFC 4180) with a header and a column ``name``. Raises NormvizError with the line of what is wrong.

    >>> read_roster(b'name,id\\r\\n"Lovelace, Ada",1\\r\\n', "students.csv")
    ['Lovelace, Ada']
    """
    lines = _lines(content, file)
    header_line, header = next(lines, (1, []))
    columns = [cell.strip().lower() for cell in header]
    if columns.count(COLUMN) != 1:
        raise NormvizError(
            "{file}, line {line}: the header is {header}, and must have one column name; separate the columns by commas.",
            file=file,
            line=header_line,
            header=echo(",".join(header)),
        )
    found: dict[str, int] = {}
    for line, cells in lines:
        if len(cells) != len(columns):
            raise NormvizError(
                '{file}, line {line}: the number of fields is {n}, and in the header {columns}; quote a field that has a comma: "Lovelace, Ada".',
                file=file,
                line=line,
                n=len(cells),
                columns=len(columns),
            )
        cell = Marked(normalize("NFC", " ".join(cells[columns.index(COLUMN)].split())), file, line)
        if not cell.value:
            raise NormvizError("{file}, line {line}: the name is empty; write one.", file=file, line=line)
        name = cell.text(MOST_NAME)
        if name in found:
            raise NormvizError(
                "{file}, line {line}: {name} is in line {before} too; add what tells them apart, such as a student number.",
                file=file,
                line=line,
                name=echo(name),
                before=found[name],
            )
        found[name] = line
    if not found:
        raise NormvizError("{file} has no student; write one name in each line below the header.", file=file)
    return list(found)


def _lines(content: bytes, file: str) -> Iterator[tuple[int, list[str]]]:
    """The number of the line in which each row begins, and its cells; without rows that are empty."""
    reader, line = csv.reader(io.StringIO(decoded(content, file), newline=""), strict=True), 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise NormvizError(
            '{file}, line {line} is not CSV ({why}); write a field with quotes in it as "a ""quoted"" word".',
            file=file,
            line=line,
            why=error,
        ) from None


def seed_of(key: str, *names: str) -> int:
    """A seed that follows from a key and names; whoever does not have the key cannot tell it.

    >>> seed_of("spring", "Ada") == seed_of("spring", "Ada") != seed_of("autumn", "Ada")
    True
    """
    digest = hmac.new(key.encode(), "\n".join(names).encode(), sha256).digest()
    return int.from_bytes(digest[:4]) >> (32 - BITS)


def student_sets(
    names: Sequence[str],
    key: str,
    count: int,
    topics: Sequence[str] = (),
    level: int | None = None,
    forms: Sequence[str] = (),
    mixture: int | None = None,
) -> list[StudentSet]:
    """A set for each name: parallel ones, no two of which are the same. A name keeps its set when others are added after it.

    key      of the course
    mixture  without it, the key chooses it; the other arguments are those of ``choose``

    Raises NormvizError like ``choose``, and if there are not as many sets.
    """
    mixture = seed_of(key) if mixture is None else mixture
    taken: set[object] = set()
    found: list[StudentSet] = []
    for name in names:
        for attempt in range(MOST_DRAWS):
            seed = seed_of(key, name, *([str(attempt)] if attempt else []))
            exercises = choose(seed, count, topics, level, forms, mixture)
            chosen = frozenset(exercise.id for exercise in exercises)
            if chosen not in taken and seed not in taken:
                break
        else:
            raise NormvizError(
                ngettext(
                    "there are not enough different sets: {found} of {n} student has one; choose more exercises or more topics.",
                    "there are not enough different sets: {found} of {n} students have one; choose more exercises or more topics.",
                    len(names),
                    found=len(found),
                )
            )
        taken |= {chosen, seed}
        found.append(StudentSet(name, seed, tuple(exercises)))
    return found
