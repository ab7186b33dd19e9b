"""``help``: it begins with what one calls, and every public method has an example, which runs as a doctest."""

import inspect
import pydoc

import pytest

import normviz as nv

CLASSES = (nv.Check, nv.Diagnosis, nv.Explanation, nv.Layer, nv.Norm, nv.NormRow, nv.Norms, nv.Output, nv.Trace)
OF_SEQUENCES = ("count", "index")


def members(made):
    """The public methods and properties of a class, each as the function that it is made of."""
    for name in dir(made):
        value = inspect.getattr_static(made, name)
        function = getattr(value, "__func__", None) or getattr(value, "fget", None) or getattr(value, "func", value)
        if not name.startswith("_") and name not in OF_SEQUENCES and inspect.isfunction(function):
            yield name, function, isinstance(value, property) or hasattr(value, "attrname")


@pytest.mark.parametrize("made", CLASSES, ids=lambda made: made.__name__)
def test_every_method_has_an_example_and_every_property_a_sentence(made):
    assert len(inspect.getdoc(made)) > 100
    for name, function, is_property in members(made):
        text = inspect.getdoc(function) or ""
        assert text, name
        assert is_property or ">>> " in text, name
        assert max(map(len, text.splitlines())) <= 160, name


@pytest.mark.parametrize("name", ["check", "check_backward", "diagnose", "explain", "norms"])
def test_every_function_describes_its_arguments(name):
    function = getattr(nv, name)
    text = inspect.getdoc(function)
    assert ">>> " in text
    assert "Raises NormvizError" in text
    for argument in inspect.signature(function).parameters:
        assert argument in text


def test_help_begins_with_what_one_calls():
    begin = pydoc.plain(pydoc.render_doc(nv)).split("PACKAGE CONTENTS")[0]
    callables = [name for name in nv.__all__ if inspect.isfunction(getattr(nv, name)) and name != "step_by_step"]
    assert len(callables) > 10
    for name in [*callables, "open"]:
        assert f"\n    {name}(" in begin, name
