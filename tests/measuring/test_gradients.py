"""Comparing the gradients of a function with those of a layer."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.measuring.verdict import gradients
from tests.support.needs import HAS_RMS_NORM

X = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
DOUT = torch.randn(4, 3, generator=torch.Generator().manual_seed(2))


def test_gradients_are_those_of_autograd():
    x, gamma = X.clone().requires_grad_(), torch.full((3,), 2.0, requires_grad=True)
    found = gradients(lambda x, given: x.square() * given["gamma"], x, {"gamma": gamma, "beta": torch.ones(2)}, DOUT.double())  # fmt: skip
    assert torch.allclose(found["x"], 4 * X * DOUT)
    assert torch.allclose(found["gamma"], (X.square() * DOUT).sum(0))
    assert found["beta"].tolist() == [0, 0]
    assert x.grad is None
    with torch.no_grad():
        assert gradients(lambda x, given: x * 1, X, {}, DOUT)["x"].equal(DOUT)


class Rule(torch.autograd.Function):
    """The normalized x, with a dx of one's own."""

    @staticmethod
    def forward(ctx, x, change):
        mean, root = x.mean(1, keepdim=True), (x.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
        ctx.save_for_backward((x - mean) / root, root)
        ctx.change = change
        return (x - mean) / root

    @staticmethod
    def backward(ctx, dout):
        y, root = ctx.saved_tensors
        return ctx.change(dout, y, root), None


def right(dout, y, root):
    return (dout - dout.mean(1, keepdim=True) - y * (dout * y).mean(1, keepdim=True)) / root


class Layer(nn.Module):
    def __init__(self, change=right, use=lambda y, gamma, beta: y * gamma + beta, dtype=torch.float32):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(3, dtype=dtype)), nn.Parameter(torch.zeros(3, dtype=dtype))
        self.change, self.use = change, use

    def forward(self, x):
        return self.use(Rule.apply(x, self.change), self.weight, self.bias)


def differs(fn, like="LayerNorm(3)", x=X, **more):
    found = nv.check(fn, x, like, **more)
    return [(one.what, one.found, one.expected, one.sentence) for one in found.differences]


def difference(names, largest, cause="", verb="differs"):
    sentence = f"Its output is right, but not its gradient: {names} {verb} by up to {largest}."
    return [("backward", f"another {names}", names, f"{sentence} {cause}".strip())]


def test_a_right_rule():
    assert differs(Layer()) == differs(Layer(), backward=True) == []


CAUSES = [
    (lambda dout, y, root: (dout - y * (dout * y).mean(1, keepdim=True)) / root, "It treats the mean as a constant: do not detach it."),
    (lambda dout, y, root: (dout - dout.mean(1, keepdim=True)) / root, "It treats the variance as a constant: do not detach it."),
    (lambda dout, y, root: dout / root, "It treats the mean and the variance as constants: do not detach them."),
    (lambda dout, y, root: -right(dout, y, root), "dx has the opposite sign."),
    (lambda dout, y, root: 1.001 * right(dout, y, root), ""),
    (lambda dout, y, root: 0 * dout, ""),
]  # fmt: skip


@pytest.mark.parametrize(("change", "cause"), CAUSES)
def test_a_wrong_dx_has_its_cause(change, cause):
    (found,) = differs(Layer(change))
    assert found[:3] == ("backward", "another dx", "dx")
    assert found[3].startswith("Its output is right, but not its gradient: dx differs by up to ")
    assert found[3].partition(". ")[2] == cause
    assert differs(Layer(change), backward=False) == []


def test_a_dx_without_gamma_has_its_cause():
    class Apart(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, gamma):
            ctx.save_for_backward(x, gamma)
            return F.layer_norm(x, (3,), gamma)

        @staticmethod
        def backward(ctx, dout):
            x, gamma = ctx.saved_tensors
            leaf, own = x.detach().requires_grad_(), gamma.detach().requires_grad_()
            with torch.enable_grad():
                (dx,) = torch.autograd.grad(F.layer_norm(leaf, (3,)), leaf, dout)
                (dgamma,) = torch.autograd.grad(F.layer_norm(x.detach(), (3,), own), own, dout)
            return dx, dgamma

    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(3))
    module.forward = lambda x: Apart.apply(x, module.weight)
    (found,) = differs(module, "LayerNorm(3, bias=False)")
    assert found[3].endswith(". dx does not contain gamma.")


USES = [
    (lambda y, gamma, beta: y * gamma.detach() + beta, "dgamma", "differs"),
    (lambda y, gamma, beta: y * gamma + beta.detach(), "dbeta", "differs"),
    (lambda y, gamma, beta: y * gamma.detach() + beta.detach(), "dgamma and dbeta", "differ"),
    (lambda y, gamma, beta: y.detach() * gamma + beta, "dx", "differs"),
    (lambda y, gamma, beta: y.detach() * gamma.detach() + beta, "dx and dgamma", "differ"),
    (lambda y, gamma, beta: (y * gamma.detach() + beta.detach()).detach() + 0 * y, "dx, dgamma and dbeta", "differ"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "names", "verb"), USES)
def test_the_gradients_that_differ_are_named(use, names, verb):
    (found,) = differs(Layer(use=use))
    assert found[:3] == ("backward", f"another {names}", names)
    assert found[3].startswith(f"Its output is right, but not its gradient: {names} {verb} by up to ")


def test_parameters_need_no_gradient_before_and_after():
    module = Layer().requires_grad_(False)
    assert differs(module) == []
    assert not any(one.requires_grad for one in module.parameters())
    assert all(one.grad is None for one in module.parameters())


def test_a_function_that_refuses_other_values_is_compared_with_its_own():
    def refuses(x, gamma):
        if not torch.equal(gamma, torch.ones_like(gamma)):
            raise ValueError
        return Rule.apply(x, right) * gamma

    assert nv.check(refuses, X, "LayerNorm(3, bias=False)", params={"gamma": torch.ones(3)}, backward=True).ok


def test_a_forward_that_refuses_other_values_is_compared_with_its_own():
    def refuses(x, gamma, beta):
        assert (gamma == 1).all()
        return rows(x, gamma, beta)

    assert by_hand(lambda *gradients: gradients, refuses).ok


def notes(fn, x=X, like="LayerNorm(3)"):
    found = nv.check(fn, x, like)
    assert found.ok
    return found.notes


NONE = (
    "Its gradients are not compared: its output requires no gradient, as under torch.no_grad() or through NumPy or JAX."
)


def by_numpy(x):
    values = x.detach().numpy()
    return (values - values.mean(1, keepdims=True)) / np.sqrt(values.var(1, keepdims=True) + 1e-5)


def in_place(x):
    return x.sub_(x.mean(-1, keepdim=True)).div_((x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt())


def under_no_grad(x):
    with torch.no_grad():
        return F.layer_norm(x, (3,))


@pytest.mark.parametrize(
    ("fn", "wanted"), [(lambda x: F.layer_norm(x, (3,)), ()), (under_no_grad, (NONE,)), (by_numpy, (NONE,))]
)
def test_gradients_that_are_not_there_are_not_judged(fn, wanted):
    assert notes(fn) == wanted


def changes_what_autograd_needs(x):
    y = x.clone()
    y -= y.mean(1, keepdim=True)
    root = (y.square().mean(1, keepdim=True) + 1e-5).sqrt()
    y /= root
    return y


def test_gradients_that_autograd_refuses_are_not_judged():
    (note,) = notes(changes_what_autograd_needs)
    assert note.startswith(
        "Its gradients are not compared: autograd cannot differentiate it: one of the variables needed"
    )
    assert "\n" not in note
    assert note.endswith(".")
    assert not note.endswith("..")


@pytest.mark.parametrize("fn", [under_no_grad, by_numpy])
def test_gradients_that_are_asked_for_must_be_there(fn):
    (found,) = nv.check(fn, X, "LayerNorm(3)", backward=True).differences
    assert (found.what, found.found) == ("backward", "no gradient")
    assert found.sentence == f"It has no gradient: {NONE.partition(': ')[2]}"


def test_gradients_in_half_precision_are_compared_on_x_itself():
    for dtype in (torch.float16, torch.bfloat16):
        assert differs(Layer(dtype=dtype), x=X.to(dtype)) == []
        only_half = lambda dout, y, root, dtype=dtype: right(dout, y, root) * (1.2 if dout.dtype == dtype else 1)  # noqa: E731
        assert [one[0] for one in differs(Layer(only_half, dtype=dtype), x=X.to(dtype))] == ["backward"]
    only_float = lambda dout, y, root: right(dout, y, root) * (1.2 if dout.dtype == torch.float32 else 1)  # noqa: E731
    assert differs(Layer(only_float)) == []  # it is compared in float64


LAYERS = [
    *([(nn.RMSNorm(3), "RMSNorm(3)", (4, 3))] if HAS_RMS_NORM else []), (nn.BatchNorm1d(3), "BatchNorm1d(3)", (4, 3)), (nn.BatchNorm1d(3).eval(), "BatchNorm1d(3).eval()", (4, 3)),
    (nn.GroupNorm(3, 6), "GroupNorm(3, 6)", (2, 6, 2)), (nn.InstanceNorm1d(3, affine=True), "InstanceNorm1d(3, affine=True)", (2, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("module", "like", "shape"), LAYERS)
def test_the_gradients_of_torch_are_right(module, like, shape):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    assert nv.check(module, x, like, backward=True).ok


def test_stored_statistics_have_no_cause():
    module = nn.Module()
    module.register_buffer("running_mean", torch.zeros(3))
    module.register_buffer("running_var", torch.full((3,), 4.0))
    module.forward = lambda x: F.batch_norm(2 * x.detach() - x, module.running_mean, module.running_var)
    (found,) = differs(module.eval(), "BatchNorm1d(3, affine=False).eval()")
    assert found[3].partition(". ")[2] == ""
    assert found[1] == "another dx"


# By hand


def rows(x, gamma, beta):
    mean, root = x.mean(1, keepdims=True), np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return gamma * (x - mean) / root + beta, ((x - mean) / root, gamma, root)


def backward(dout, cache):
    y, gamma, root = cache
    d = dout * gamma
    dx = (d - d.mean(1, keepdims=True) - y * (d * y).mean(1, keepdims=True)) / root
    return dx, (dout * y).sum(0), dout.sum(0)


TABLE, PARAMS = X.double().numpy(), {"gamma": np.ones(3), "beta": np.zeros(3)}


def by_hand(change, forward=rows, like="LayerNorm(3)", params=PARAMS):
    return nv.check_backward(lambda dout, cache: change(*backward(dout, cache)), TABLE, like=like, forward=forward, params=params)  # fmt: skip


CHANGES = [
    (lambda dx, dg, db: (dx, dg, db), ""),
    (lambda dx, dg, db: [dx, dg[None], db[:, None]], ""),
    (lambda dx, dg, db: (dx, db, dg), "dgamma and dbeta differ by up to {}. dgamma and dbeta are exchanged."),
    (lambda dx, dg, db: (-dx, db, dg), "dx, dgamma and dbeta differ by up to {}. dx has the opposite sign. dgamma and dbeta are exchanged."),
    (lambda dx, dg, db: (dx, dg + 1, db + 1), "dgamma and dbeta differ by up to {}."),
    (lambda dx, dg, db: (dx, dg, -db), "dbeta differs by up to {}."),
    (lambda dx, dg, db: (1.5 * dx, dg, db), "dx differs by up to {}."),
]  # fmt: skip


@pytest.mark.parametrize(("change", "text"), CHANGES)
def test_a_backward_function_is_compared(change, text):
    found = by_hand(change)
    if not text:
        assert str(found) == "Your backward function gives the gradients of LayerNorm(3): dx, dgamma and dbeta."
        assert (found.ok, found.layer, found.reduced, found.sampled, found.notes) == (
            True,
            "LayerNorm([3])",
            (1,),
            False,
            (),
        )
        return
    start, _some, end = f"Its gradient is not right: {text}".partition("{}")
    assert str(found).startswith(start)
    assert str(found).endswith(end)
    assert found.differences[0].what == "backward"


SHAPES = [
    (lambda dx, dg, db: (dx.T, dg, db), "dx has the shape (3, 4); it must be (4, 3)."),
    (lambda dx, dg, db: (dx, dg[:2], db), "dgamma has the shape (2,); it must be (3,)."),
    (lambda dx, dg, db: (dx, dg, db.sum()), "dbeta has the shape (); it must be (3,)."),
]


@pytest.mark.parametrize(("change", "sentence"), SHAPES)
def test_a_gradient_has_the_shape_of_its_tensor(change, sentence):
    found = by_hand(change)
    name, own, wanted = sentence.split()[0], sentence.partition("shape ")[2].partition(";")[0], sentence.rpartition("be ")[2][:-1]  # fmt: skip
    assert [(one.what, one.found, one.expected, one.sentence) for one in found.differences] == [("backward", own, wanted, sentence)]  # fmt: skip
    assert name in str(found)


REFUSED = [
    (lambda dx, dg, db: (dx, dg), rows, r"^backward must return \(dx, dgamma, dbeta\), and it returned 2 of them\.$"),
    (lambda dx, dg, db: (dx, dg, 1), rows, "^backward must return arrays of floating-point numbers; one is 1\\.$"),
    (lambda dx, dg, db: 1 / 0, rows, "^backward raises ZeroDivisionError: division by zero$"),
    (lambda dx, dg, db: dx, lambda x, gamma, beta: rows(x, gamma, beta)[0], r"^forward must return \(out, cache\), and it returned array"),
    (lambda dx, dg, db: dx, lambda x, gamma, beta: (*rows(x, gamma, beta), 1), r"^forward must return \(out, cache\), and it returned \("),
]  # fmt: skip


@pytest.mark.parametrize(("change", "forward", "words"), REFUSED)
def test_what_is_no_pair_of_functions_is_refused(change, forward, words):
    with pytest.raises(nv.NormvizError, match=words):
        by_hand(change, forward)


def test_a_backward_function_of_tensors_may_return_one_gradient():
    def forward(x):
        y = F.layer_norm(x, (3,))
        return y, (y, x)

    def back(dout, cache):
        assert not torch.is_grad_enabled()
        return right(dout, cache[0], (cache[1].var(1, keepdim=True, correction=0) + 1e-5).sqrt())

    like = "LayerNorm(3, elementwise_affine=False)"
    found = nv.check_backward(back, X, like=like, forward=forward)
    assert str(found) == f"Your backward function gives the gradients of {like}: dx."
    with pytest.raises(nv.NormvizError, match=r"^backward must return dx, and it returned 2 of them"):
        nv.check_backward(lambda dout, cache: (dout, dout), X, like=like, forward=forward)


def test_a_gamma_of_ones_hides_nothing():
    found = nv.check_backward(lambda dout, cache: backward(dout, (cache[0], 1, cache[2])), TABLE, like="LayerNorm(3)", forward=rows, params=PARAMS)  # fmt: skip
    assert str(found).endswith("dx does not contain gamma.")


def test_a_wrong_forward_is_a_note():
    found = nv.check_backward(backward, TABLE, like="LayerNorm(3)", forward=lambda x, gamma, beta: (1 + rows(x, gamma, beta)[0], rows(x, gamma, beta)[1]), params=PARAMS)  # fmt: skip
    assert found.notes == ("The output of forward is not that of LayerNorm(3): use check first.",)
    assert found.ok
    assert str(found).endswith(found.notes[0])
    with pytest.raises(
        nv.NormvizError, match=r"^BatchNorm1d\(3\)\.eval\(\) uses stored statistics: its gradient is not compared\.$"
    ):
        nv.check_backward(backward, TABLE, like="BatchNorm1d(3).eval()", forward=rows, params=PARAMS)
