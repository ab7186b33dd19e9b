"""Nearly valid and hostile texts: numerals, layer calls, patterns, queries, and mutations of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, quote

from hypothesis import strategies as st

from normviz.analysis.examples import DATA, PARAMETERS
from normviz.layers.catalogue import FAMILIES, KINDS
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.tours import tours
from normviz.scene.scene import SCENE_SETTINGS
from normviz.scene.setting import Setting

Draw = Callable[..., Any]
Texts = st.SearchStrategy[str]

SMALL = ["1", "2", "2", "3", "4", "4", "6", "8"]
LARGE = ["7", "12", "16", "64", "255", "1024", "65536", "1048576", "1048577", "16777216"]
HUGE = [str(2**40), str(2**40 + 1), "963761198400", "1099511627689", "9" * 18, "1" + "0" * 4400, "9" * 300]
NO_SIZES = [
    "0", "-0", "-1", "+4", "--1", "0.5", "-0.0", "1.", ".5", "2.0", "1e3", "1e308", "-1e308", "1e309", "5e-324", "1e-400", "inf",
    "-inf", "Infinity", "nan", "-nan", "NaN", "1_000", "0x10", "0b1", "1j", "007", "٣", "²", "３", "④", "½", "一", "True", "None", "",
    " ", "\t4", "4\n", "\x00", "4\x00", "none", "-", "−2", "1,2", "2**40", "()", "[]", "'4'",
]  # fmt: skip
STRANGE = [
    "\x00", "\x1b[31m", "\u202e", "\u200f", "\u2066", "\ufeff", "\ud800", "\udcff", "😀", "e\u0301", "ß", "ﬁ", "İ", "ǅ", "K", "\u2028", "\r\n", "%", "%00",
    "%2", "%ff", "%F0%9F", "&", ";", "=", "#", "+", "?", "\\", "'", '"', "`", "$", "<script>alert(1)</script>", "{}", "{0}", "{seed}", "%s", "{{", "../..",
    "__import__('os')", "->", "→", "(", ")", "((", "[", "]", "*", "**", ",", ",,", "lambda: 0", "f'{1}'", "0 if 1 else 2", "\t", " " * 50,
    "(" * 90, "[" * 200, "-" * 200, "a." * 100, "9" * 400, "n " * 70, "A" * 600, "x" * 5000, "1," * 900,
]  # fmt: skip

numerals: Texts = st.one_of(
    st.sampled_from(SMALL),
    st.sampled_from(SMALL),
    st.sampled_from(SMALL),
    st.sampled_from(LARGE),
    st.sampled_from(HUGE),
    st.sampled_from(NO_SIZES),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(repr),
)
sizes: Texts = st.one_of(*[st.sampled_from(SMALL)] * 8, st.sampled_from(LARGE), st.sampled_from(HUGE))
chaos: Texts = st.one_of(
    st.text(max_size=40), st.sampled_from(STRANGE), st.lists(st.sampled_from(STRANGE)).map("".join)
)


@st.composite
def mutated(draw: Draw, texts: Texts) -> str:
    """The text unchanged, or with one to three pieces removed, doubled, swapped or inserted."""
    text = draw(texts)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3]))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 4)))
        piece = draw(st.one_of(st.just(""), st.just(text[start:stop] * 2), st.sampled_from(STRANGE), numerals))
        text = text[:start] + piece + text[stop:]
    return text


SEPARATORS = st.sampled_from([",", ",", ",", ", ", ";", " ", ",,"])


def joined(parts: Texts, most: int, between: Texts = SEPARATORS) -> Texts:
    """A few of the parts, joined by one separator."""
    return st.tuples(st.lists(parts, min_size=1, max_size=most), between).map(lambda drawn: drawn[1].join(drawn[0]))


shape_texts: Texts = st.one_of(
    joined(st.sampled_from(SMALL), 5, st.just(",")),
    joined(st.sampled_from(SMALL), 5, st.just(",")),
    joined(sizes, 6, st.just(",")),
    joined(st.sampled_from(["1", "2"]), 14, st.just(",")),
    joined(numerals, 5),
)
names = st.sampled_from([*"nnccchhwwlldgkbtxyz", "c1", "d1", "d2", "g0", "k0", "x12", "C", "é", "n_", "_", "1", "class", "tensor", "pattern", "…"])  # fmt: skip
splits = st.lists(names, max_size=4).map(lambda parts: f"({' '.join(parts)})")
axes = st.one_of(names, names, names, splits)
sides = st.lists(axes, max_size=7).map(" ".join)
plain_sides = st.permutations([*"nchw"]).flatmap(
    lambda order: st.integers(0, 4).map(lambda most: " ".join(order[:most]))
)
pattern_texts: Texts = st.one_of(
    st.builds("{} -> {}".format, sides, sides),
    st.builds("n c h w -> {}".format, plain_sides),
    st.builds("n (g k) h w -> {}".format, st.sampled_from(["n g", "n k", "", "g k", "n g k h w", "w h"])),
    st.builds("{}{}{}".format, sides, st.sampled_from(["->", "→", "-", ">", "-> ->", "=>", "-->"]), sides),
)
size_maps: Texts = st.lists(st.tuples(names, numerals), max_size=3).map(
    lambda pairs: "{" + ", ".join(f"{name!r}: {size}" for name, size in pairs) + "}"
)
literals: Texts = st.one_of(
    numerals,
    numerals,
    joined(sizes, 4, st.just(", ")).map("[{}]".format),
    joined(numerals, 4, st.just(", ")).map("({},)".format),
    st.sampled_from(
        [
            "True",
            "False",
            "None",
            "'c'",
            "b'c'",
            "{}",
            "...",
            "[[1]]",
            "()",
            "1e-5",
            "*[4]",
            "**{}",
            "x",
            "4 + 4",
            "-(-4)",
            "~1",
        ]
    ),
    pattern_texts.map(repr),
    size_maps,
)
keywords = st.sampled_from(sorted({argument.name for kind in KINDS.values() for argument in kind.arguments} | {"stats", "params", "center", "running", "sizes", "dtype", "training", "self"}))  # fmt: skip
arguments = st.lists(st.one_of(literals, st.builds("{}={}".format, keywords, literals)), max_size=5).map(", ".join)
heads: Texts = st.one_of(
    st.sampled_from([*KINDS, *KINDS, "Norm", "Norm", "Norm"]),
    st.sampled_from(
        [
            "nn.LayerNorm",
            "torch.nn.GroupNorm",
            "nv.Norm",
            "os.system",
            "BatchNorm",
            "batchnorm2d",
            "Conv2d",
            "",
            "eval",
            "().x",
        ]
    ),
)
tails = st.sampled_from(
    ["", "", "", "", ".eval()", ".train()", ".eval().eval()", ".eval", ".half()", "()", "; 1", " # c", ".eval(1)"]
)
fitting_layers: Texts = st.one_of(
    st.builds("LayerNorm([{}])".format, joined(st.sampled_from(SMALL), 4, st.just(","))),
    st.builds("{}({})".format, st.sampled_from(sorted(set(KINDS) - {"GroupNorm"})), sizes),
    st.builds("{}({},track_running_stats=True,affine=True).eval()".format, st.sampled_from(["BatchNorm2d", "InstanceNorm2d"]), sizes),
    st.builds("GroupNorm({},{})".format, sizes, sizes),
    st.builds("Norm({!r},{})".format, pattern_texts, st.one_of(plain_sides.map(repr), st.just("None"))),
    st.builds("Norm({!r},sizes={})".format, pattern_texts, size_maps),
    st.builds("Norm('n (g k) h w -> n g',{},sizes={{'g':{}}})".format, st.sampled_from(["'c'", "'g'", "'k h'", "None", "'g k'"]), sizes),
)  # fmt: skip
layer_texts: Texts = mutated(
    st.one_of(fitting_layers, fitting_layers, st.builds("{}({}){}".format, heads, arguments, tails))
)
layouts: Texts = st.one_of(
    st.sampled_from(
        ["NCHW", "NHWC", "NLC", "NCL", "ND", "D", "CHW", "NCDHW", "BHWC", "HWCN", "ND1D2D3", "nchw", "ABCD", "XY"]
    ),
    st.permutations([*"NCHW"]).map("".join),
    st.text("NCHWDLGKB123 ", max_size=14),
)
words = st.one_of(st.sampled_from([*DATA, *PARAMETERS]), chaos)
number_lists = joined(numerals, 8)
FOR_READER: dict[str, Texts] = {
    "shape": shape_texts,
    "layout": layouts,
    "layer": layer_texts,
    "data": st.one_of(st.sampled_from([*DATA]), words),
    "seed": st.one_of(st.integers(0, 9).map(str), numerals),
    "values": st.one_of(st.lists(numerals, max_size=66).map(",".join), number_lists),
    "params": st.one_of(st.sampled_from(PARAMETERS), words),
    "gamma": st.one_of(st.sampled_from(["1.8", "-3", "none"]), numerals),
    "beta": st.one_of(st.sampled_from(["0.5", "-0", "3"]), numerals),
    "at": st.one_of(st.just("none"), joined(st.sampled_from("0011234"), 5, st.just(",")), number_lists),
    "from": st.one_of(joined(st.sampled_from("0000128"), 5, st.just(",")), number_lists),
}
assert set(FOR_READER) == set(SCENE_SETTINGS)
for _name in ("shape", "layout", "values", "at", "from"):
    FOR_READER[_name] = mutated(FOR_READER[_name])


SHOWS = {
    "train_and_eval": ["stream", "modes", "batches", "sequences", "devices"],
    "gradients": ["column", "matrix", "parameters", "backward"],
    "numerics": ["variance", "eps", "constant", "single", "placement"],
}


def texts_for_field(field: Setting) -> Texts:
    """Texts for one setting of a page: its default, other valid values, and invalid ones."""
    special: dict[str, Texts] = {
        "layers": st.lists(layer_texts, max_size=8).map(";".join),
        "show": st.sampled_from([show for shows in SHOWS.values() for show in shows]),
        "input": st.sampled_from(["x", "outlier", "signs"]),
        "dtype": st.sampled_from(["float16", "bfloat16", "float32", "float64"]),
        "q": st.sampled_from([*QUESTIONS, "s999", "../s0"]),
    }  # fmt: skip
    usual = st.just("" if field.default == () else field.format(field.default))
    own = (
        [special[field.name]] * 6
        if field.name in special
        else [st.integers(-3, 1030).map(str), st.integers(-14, 9).map("1e{}".format)]
    )
    return st.one_of(*own, usual, numerals, mutated(usual), chaos)


@st.composite
def queries(draw: Draw, page: str = "explore") -> dict[str, str]:
    """A query of a page as the server passes it on."""
    texts = FOR_READER | {field.name: texts_for_field(field) for field in PAGES[page].settings}
    wanted = draw(st.lists(st.sampled_from(sorted(texts)), max_size=6, unique=True))
    query = {name: draw(texts[name]) for name in wanted}
    for name in ("shape", "layer"):
        if draw(st.booleans()):
            query[name] = draw(texts[name])
    if draw(st.integers(0, 9)) == 0:
        query[draw(chaos)] = draw(chaos)
    return query


def addresses(page: str = "explore") -> st.SearchStrategy[dict[str, str]]:
    """A query parsed from an address."""
    return query_texts(queries(page)).map(lambda text: dict(parse_qsl(text, keep_blank_values=True)))


@st.composite
def query_texts(draw: Draw, of: st.SearchStrategy[dict[str, str]]) -> str:
    """A query as an address has it: quoted correctly, incorrectly or not at all, with repeated names, cut anywhere."""
    query = draw(of)
    how = draw(
        st.sampled_from(
            [lambda text: quote(text, errors="replace"), lambda text: quote(text, safe="", errors="replace"), str]
        )
    )
    pairs = [f"{how(name)}={how(value)}" for name, value in query.items()]
    pairs += draw(st.lists(st.sampled_from(pairs or ["=", "&"]), max_size=2))
    return str(draw(mutated(st.just("&".join(pairs)))))


OF_DISPLAY: dict[str, Texts] = {
    "caption": chaos,
    "hide": joined(st.sampled_from(["code", "layer", "all", "controls", "paste", "x"]) | chaos, 4, st.just(",")),
    "present": st.sampled_from(["true", "false", "1"]),
    "tour": st.sampled_from([*tours(), "x"]) | chaos,
    "stop": numerals,
    "like": mutated(st.builds("{} on {}".format, layer_texts, shape_texts)),
    "open": st.sampled_from(["code", "values,worked", "x"]) | chaos,
    "lang": st.sampled_from(["en", "xx", "es-MX"]) | chaos,
    "typed": mutated(st.builds("{} on {}".format, fitting_layers, shape_texts)) | chaos,
    "v": numerals,
}
plain_queries = st.sampled_from(
    [{}, {"shape": "2,3", "layer": "LayerNorm(3)"}, {"layer": "BatchNorm2d(4)"}, {"seed": "3"}]
)
HOSTS = [
    *[""] * 9, *["https://example.org/lab", "http://localhost:8501"] * 4, "https://user:a@b:99999", "http://[::1]", "http://[::1", "https://[a]b", "http://exa\u2100mple",
    "//evil.example", "javascript:alert(1)", "file://", "data:text/html,", "http://", "https:", "\\\\x",
]  # fmt: skip
PLACES = ["/", "", "/course/", "/..", "//", "/%2e%2e/", "/Explore", "/explorer", "/question", "/x.html", "/%00"]


@st.composite
def links(draw: Draw) -> str:
    """A link to a page of the app, or one that looks like it."""
    page = draw(st.sampled_from([*PAGES]))
    place = draw(st.sampled_from([f"/{page}"] * 9 + PLACES))
    shown = st.lists(st.sampled_from(sorted(OF_DISPLAY)), max_size=2, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: OF_DISPLAY[name] for name in names})
    )
    asked = st.tuples(draw(st.sampled_from([plain_queries, queries(page)])), shown).map(
        lambda drawn: drawn[0] | drawn[1]
    )
    text = f"{draw(st.sampled_from(HOSTS))}{place}?{draw(query_texts(asked))}"
    return str(draw(mutated(st.just(text)))) if draw(st.integers(0, 3)) == 0 else text


SCALARS = [
    "2024-99-99", "2024-01-01", "9" * 5000, "0x" + "f" * 5000, "1e999", ".nan", "~", "null", "no", "12:30:45", "!!python/object:os.system x", "!!int x", "!!binary x", "!!timestamp x",
    "*a", "&a [*a]", "&a {<<: *a}", "<<", "? [a]", "[" * 900, "{" * 900, "- " * 900, '"\\ud800"', '"\\U00110000"', '"\\x00"', "'", "|", ">", "%", "@", "`", "\t", "...", "---", "%YAML 9.9",
]  # fmt: skip


def mostly(usual: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Five of six are usual ones; ``one_of`` counts equal strategies once."""
    return st.sampled_from([usual] * 5 + [other]).flatmap(lambda chosen: chosen)


plain_links = st.sampled_from(
    ["/explore?shape=2,3&layer=LayerNorm(3)", "/compare", "/gradients?show=column", "/?shape=2,3&layer=LayerNorm(3)"]
)
link_texts: Texts = mostly(plain_links, links()).map(json.dumps)
yaml_texts: Texts = st.one_of(st.sampled_from(SCALARS), chaos.map(json.dumps), chaos, link_texts)
caption_texts: Texts = mostly(st.just("One mean."), yaml_texts)
keys = st.sampled_from(["link", "link", "link", "caption", "caption", "title", "stops", "x", "<<", "1", "[a]"])
good_stops = st.builds("{{link: {}, caption: {}}}".format, link_texts, caption_texts)
bad_stops = (
    st.lists(st.builds("{}: {}".format, keys, yaml_texts), min_size=1, max_size=3).map(", ".join).map("{{{}}}".format)
)
tour_stops = mostly(good_stops, bad_stops | yaml_texts)
tour_texts: Texts = mutated(
    st.builds(
        "{}: {}\n{}: [{}]\n{}".format,
        st.sampled_from(["title"] * 8 + ["titel", "? title"]),
        caption_texts,
        st.sampled_from(["stops"] * 8 + ["stop", "- stops"]),
        joined(tour_stops, 3, st.just(", ")),
        st.sampled_from([*[""] * 9, "x: 1", "\t", "..."]),
    )
)


families = st.one_of(st.sampled_from([*FAMILIES, "Norm", "BatchNorm2d", ""]), chaos)

# Shapes at the limits: the largest x that is computed, the largest that is drawn whole, every rank, sizes too large to compute.
LIMITS = ["1048576", "524288,2", "1,1048576", "1048576,1", "1024,1024", "512,256", "2,262144", "64,64,128", "1,1,524288", "16,32,32,32", "2,64,64,64", "1024,512,1,1", "1,1,1024,512", "1024,1024",
          "16,16,16,16,16", "1,2,2,1,2", "2,64,56,56", "4,4,32,32", "128,128", "4096", "64,64", "4,4,16,16", "256", "16,16", "2,2,2,2,2,2,2,2,2,2,2,2",
          "1,1,1,1,1,1,1,1,1,1,1,2", "3,3,3,3,3,3,3,3,3,3,3,3", "8,1099511627776,4,4", "2,963761198400,2,2", "1099511627776", "1099511627776,1099511627776", "2,1099511627689,3",
          "67108864", "2,67108864", "65536,1,16", ",".join(["1099511627776"] * 12)]  # fmt: skip
LIMIT_SHOWS = {
    "batch_size": "1024", "steps": "500", "drift": "10", "momentum": "none", "count": "256", "longest": "100", "devices": "8",
    "step": "6", "distance": "1e7", "spread": "1e-12", "value": "1e6", "scale": "10000", "eps": "1",
}  # fmt: skip


@st.composite
def at_limits(draw: Draw, page: str) -> dict[str, str]:
    """A valid query of a page with settings at their limits."""
    shape = draw(st.sampled_from(LIMITS)).split(",")
    last, channels = shape[-1], shape[1] if len(shape) > 1 else shape[0]
    rank = len(shape)
    letters = "abcdefijlmop"[:rank]
    patterns = [
        f"Norm('{' '.join(letters)} -> {' '.join(kept)}','{' '.join(learned)}')"
        for kept in ("", letters, letters[::2], letters[:1])
        for learned in ("", letters, letters[1::2], letters[-1:])
    ]
    layers = [
        f"LayerNorm([{','.join(shape)}])", f"LayerNorm({last})", f"RMSNorm({last})", f"GroupNorm(1,{channels})", f"GroupNorm({channels},{channels})",
        f"BatchNorm2d({channels})", f"BatchNorm1d({channels}).eval()", f"InstanceNorm2d({channels},affine=True,track_running_stats=True)", f"SyncBatchNorm({channels})",
        f"ChannelsFirstLayerNorm({channels})", f"DimNorm({last},dim=0)", *patterns,
    ]  # fmt: skip
    query = {"shape": ",".join(shape), "layer": draw(st.sampled_from(layers))}
    query |= {"data": draw(st.sampled_from([*DATA])), "params": draw(st.sampled_from(PARAMETERS)), "seed": "2147483647"}
    for field in PAGES[page].settings:
        if field.name in LIMIT_SHOWS:
            query[field.name] = LIMIT_SHOWS[field.name]
        elif field.name == "show":
            query["show"] = draw(st.sampled_from(SHOWS[page]))
        elif field.name == "layers":
            query["layers"] = ";".join(draw(st.lists(st.sampled_from(layers), min_size=2, max_size=6, unique=True)))[
                :1500
            ]
        else:
            query[field.name] = draw(texts_for_field(field))
    return query


# Requests.

MARKUP = "<script>alert(1)</script>"
PATHS = [*PAGES, "", "export", "readyz", "index.html", "robots.txt", "static", "lib", "media", "component", "app/static", "_stcore/health", "_stcore/x"]  # fmt: skip
PIECES_OF_PATHS = [
    "..",
    ".",
    "/",
    "//",
    "\\",
    "\0",
    "a" * 300,
    "é",
    "\n",
    "%00",
    "%2e%2e",
    MARKUP,
    ".js",
    ".css",
    "~",
    "+",
]
request_paths = st.lists(st.sampled_from(PATHS) | st.sampled_from(PIECES_OF_PATHS) | chaos, max_size=5).map("/".join)
request_methods = st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"])
latin = st.text(st.characters(min_codepoint=1, max_codepoint=255), max_size=20)
header_names = st.sampled_from(["host", "accept_encoding", "accept_language", "cookie", "if_none_match", "range", "x_forwarded_proto", "origin", "content_length"])  # fmt: skip
request_headers = st.dictionaries(
    names, latin | st.sampled_from(["evil.example", "gzip", "bytes=0-9", MARKUP, "https"]), max_size=4
)
requests = st.tuples(request_paths, request_methods, addresses(), request_headers)
