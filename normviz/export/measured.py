"""``nv.check`` and ``nv.norms``: what is measured of a function and of a model, with its view in a notebook.

A check shows the groups of the function next to the groups of the expected layer. The normalizations of a model are a table, whose rows open
their views: as links, or with ``explore``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from torch import nn

from normviz.analysis.comparison import Comparison
from normviz.analysis.description import Description
from normviz.export.app import app_of_environment
from normviz.export.output import Output, output_of_query
from normviz.layers.axes import layout_text
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.compare import panels
from normviz.lessons.parts.part import Caption, Panels, Part, Text
from normviz.measuring import check as functions
from normviz.measuring.check import expect, norm_of, with_usual_formula
from normviz.measuring.models import norms as models
from normviz.measuring.models.norms import NormRow
from normviz.scene.grid import grid, start_with
from normviz.scene.view import link
from normviz.texts.errors import NormvizError
from normviz.texts.languages import with_language
from normviz.texts.messages import _, join_sentences, ngettext

__tracebackhide__ = True  # pytest shows the frame of the caller

CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
NUMBER = "padding:2px 12px 2px 0;text-align:right;vertical-align:top"


def check(
    fn: Callable[..., Any],
    x: Any,
    like: str | Layer | Norm | nn.Module | None = None,
    *,
    layout: str | None = None,
    params: Mapping[str, Any] | None = None,
    shapes: Sequence[Sequence[int]] = (),
    backward: bool | None = None,
) -> Check:
    """Which normalization ``fn`` computes, measured from outside, and whether it is the one of ``like``.

    With ``like``, the output of fn is compared with that of ``like`` on x, in its dtype, with the gamma and beta of fn; then on other
    values of x, gamma and beta, with the gradients, and for a module in both modes and after two batches. An output is wrong if its
    error exceeds the tolerance of ``torch.testing.assert_close`` and a few times torch's own error. If it is, the parts of the formula
    are measured to say why.

    fn      a function of a tensor (or of a NumPy array, if x is one), or a module; the output has the shape of x, or is the first
            of a tuple
    x       a tensor, an array of NumPy or JAX, or a shape: fn is called with x, and with other values of its shape
    like    what fn should be: the text of a layer, a module, or a ``Norm``. A module gives its layer: the values of its gamma and beta
            do not matter.
    layout  axis letters, ``"NHWC"``; default: the axes of ``like``. Layers of channels, such as BatchNorm2d, are expected to use the
            axis C, wherever it is.
    params  further arguments of fn by name; gamma and beta are found among them, by name or by what they do
    shapes  other shapes of x on which fn must do the same; ``like`` must take them, too
    backward  whether the gradients are compared; default: if the output requires a gradient

    Parameters of a module, and tensors in a closure that require a gradient, may have any values. Other numbers that fn multiplies by
    or adds are differences. Without params and parameters, gamma is 1 and beta is 0.

    Nothing is changed: neither x, nor modules that fn uses, nor params, nor the random state of torch and NumPy.
    Where the parts of the formula are measured, only some elements are moved above 4,096, and above 262,144, a smaller tensor is
    measured where fn and like take it; the text says so.

    Raises NormvizError if fn raises, is random, or returns something else than a tensor of the shape of x, if ``like``
    does not take an x of this shape or of one of ``shapes``, and if ``backward`` is true and the gradients cannot be compared.

    >>> import torch
    >>> print(check(torch.nn.BatchNorm1d(4), (4, 4), like="LayerNorm(4)"))
    LayerNorm(4) averages over D. Your function averages over N (like BatchNorm1d).
    >>> found = check(torch.nn.GroupNorm(2, 4), (3, 4, 5))
    >>> found.layer, found.reduced
    ('GroupNorm(2, 4)', (1, 2))
    >>> check(
    ...     lambda x: (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True), (4, 6), like="LayerNorm(6, eps=0.0)"
    ... ).differences[0].what
    'variance'
    """
    try:
        return Check.of(fn, x, like, layout=layout, params=params, shapes=shapes, backward=backward)
    except NormvizError as error:
        raise error.with_traceback(None) from error.__cause__  # without the frames of this library


def check_backward(
    backward: Callable[..., Any],
    x: Any,
    like: str | Layer | Norm | nn.Module,
    *,
    forward: Callable[..., Any],
    layout: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> Check:
    """Whether ``backward`` gives the gradients of ``like``: dx, dgamma and dbeta for a random dout.

    backward  called as ``backward(dout, cache)``; it returns dx, or (dx, dgamma, dbeta)
    x         a tensor, an array of NumPy or JAX, or a shape
    like      the layer, as in ``check``
    forward   called as ``forward(x, **params)``; it returns (out, cache)
    params    further arguments of forward by name, as in ``check``

    Only the gradients are compared; ``check`` compares the output of forward.

    Raises NormvizError if forward or backward raises or returns something else, and if ``like`` does not take x or uses stored statistics.

    >>> import numpy as np
    >>> def forward(x):
    ...     return x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6), x
    >>> def backward(dout, x):
    ...     return dout / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)
    >>> print(check_backward(backward, (4, 6), like="RMSNorm(6, eps=1e-6)", forward=forward).differences[0].what)
    backward
    """
    try:
        return Check.of_backward(backward, x, like, forward, layout=layout, params=params)
    except NormvizError as error:
        raise error.with_traceback(None) from error.__cause__


class Check(functions.Check):  # its docstring with the fields is inherited
    def output(self, **options: Any) -> Output:
        """The text, and the groups of the function next to the expected ones. Options: theme, plotlyjs, caption."""
        parts: list[Part] = [Text(self.text)]
        shown = [one for one in (_as_layer(self), self.expected) if one is not None]
        if shown:
            e, at = shown[0], (0,) * len(shown[0].shape)  # patterns that differ differ at the first element
            drawing = grid(e.shape, e.axes, start_with(at, e.shape, e.axes))
            figure = panels(Comparison(tuple(shown)), drawing, at)
            if len(shown) == 2 and isinstance(figure, Panels):
                figure = replace(figure, data=figure.data | {"differs": ["stats0", "stats1"]})
            parts.append(figure)
        if len(shown) == 2:
            parts.append(Caption(_peers_text(*shown)))
            marks = _(
                "Dark lines mark the elements in which the two groups differ. Point at another element to compare its groups."
            )
            parts.append(Caption(marks))
        return Output(tuple(parts), _("What your function computes"), "compare", None).with_(**options)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude) | {"text/plain": self.text}

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()


def _as_layer(check: Check) -> Description | None:
    """The function as a layer, whatever its eps and variance are; None if no pattern describes its groups."""
    found, norm, known = check.measured, check.norm, check.norm or check.expected
    if known is None:
        return None
    if norm is None and found is not None and found.formula is not None:
        norm = norm_of(with_usual_formula(found), known.axes)
    shape = found.shape if found is not None else check.expected.shape if check.expected is not None else None
    return None if norm is None or shape is None else expect(norm, shape, layout_text(known.axes), _("your function"))


def _peers_text(own: Description, expected: Description) -> str:
    """How many elements share their statistics with the first one, and how many of them should not or are missing."""
    masks = [e.stat_ids == e.stat_ids.flat[0] for e in (own, expected)]
    peers, wanted = (int(mask.sum()) - 1 for mask in masks)
    in_yours = ngettext(
        "In your function, the first element of x shares its statistics with {n:,} other.",
        "In your function, the first element of x shares its statistics with {n:,} others.",
        peers,
    )
    under = ngettext(
        "Under {layer}, it shares them with {n:,} other.",
        "Under {layer}, it shares them with {n:,} others.",
        wanted,
        layer=expected.title,
    )
    differ = int((masks[0] != masks[1]).sum())
    other = ngettext("The groups differ in {n:,} element.", "The groups differ in {n:,} elements.", differ)
    return join_sentences([in_yours, under, other])


def norms(model: nn.Module, *inputs: Any, **kwargs: Any) -> Norms:
    """The normalizations that run in ``model(*inputs, **kwargs)``, in order: found by what they do, not by the names of their classes.

    The model and its inputs may be on ``torch.device("meta")``: nothing is computed then, and a large model takes seconds. Nothing is
    changed: the model's buffers, mode and gradients and the random states are as before. A forward pass that fails gives the rows up to
    the failure, which ``failure`` explains. ``to_dict()`` is for JSON, ``to_pandas()`` gives a DataFrame.

    A model of ``torch.compile`` is read as it was before. Raises NormvizError if ``model`` is not a module, is lazy, or is scripted,
    traced or exported.

    >>> import torch
    >>> found = norms(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)), torch.randn(2, 3, 8, 8))
    >>> found[0].name, found[0].layer, found[0].shape, found[0].reduced
    ('1', 'BatchNorm2d(8)', (2, 8, 6, 6), (0, 2, 3))
    >>> print(found.summary)
    1 normalization, 16 parameters, 6.7 % of the model
    """
    return Norms.of(model, *inputs, **kwargs)


class Norms(models.Norms):
    def explore(self, index: int) -> Output:
        """The linked view of one row. Raises NormvizError if the app has none, such as for more than 12 axes."""
        return output_of_query("explore", view_query(self.rows[index]))

    def _repr_html_(self) -> str:
        return _table(self)


def _table(norms: Norms) -> str:
    """The table, what it adds up to, and the notes."""
    columns = [_("name"), _("layer"), _("shape"), _("reduced axes"), _("statistics"), _("parameters"), _("calls")]
    head = "".join(f'<th scope="col" style="{CELL}">{escape(column)}</th>' for column in columns)
    rows = "".join(f"<tr>{''.join(_cells(row, name))}</tr>" for row, name in zip(norms.rows, norms.names, strict=True))
    how = (
        "" if app_of_environment() or not norms.rows else _("norms.explore(0) shows the linked view of the first row.")
    )
    below = [norms.summary, *norms.remarks, how]
    lines = "".join(f'<div style="margin-top:4px">{escape(line)}</div>' for line in below if line)
    return (
        f'<div style="max-height:32em;overflow:auto"><table style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{lines}"
    )


def _cells(row: NormRow, name: str) -> Iterator[str]:
    base = app_of_environment()
    title = escape(row.title)
    if base:
        address = escape(with_language(f"{base}/{link(view_query(row))}"))
        title = f'<a href="{address}" target="_blank" rel="noopener">{title}</a>'
    yield f'<td style="{CELL}">{escape(name)}</td><td style="{CELL}">{title}</td>'
    yield from (f'<td style="{CELL}">{escape(text)}</td>' for text in (row.shapes_text, str(row.reduced)))
    yield from (f'<td style="{NUMBER}">{number:,}</td>' for number in (row.statistics, row.parameters, row.calls))


def view_query(row: NormRow) -> dict[str, str]:
    """The view Explore of a row, as the query of a link."""
    query = {"shape": ",".join(map(str, row.shape)), "layer": (row.layer or repr(row.norm)).replace(", ", ",")}
    names = "".join(parts[0] for parts in row.norm.pattern.left)
    return query | ({"layout": "NHWC"} if row.layer is not None and names == "nhwc" else {})
