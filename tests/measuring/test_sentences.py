"""What a check says: all four parts of each difference, and the whole text."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import normviz as nv
from normviz.analysis.description import describe
from normviz.layers.norm import Norm
from normviz.measuring import report
from normviz.measuring.check import expect
from normviz.measuring.formula import Eps, Formula, Learned, Measurement, Quotient, Reach
from normviz.measuring.report import Difference
from normviz.measuring.verdict import Error
from tests.measuring.mutations import WRONG
from tests.support.needs import needs_half

NAMED = {one.name: one for one in WRONG}
# Of each implementation: what, found, expected, sentence.
DIFFERENCES = {
    'layer norm: xhat * gamma + beta -> xhat * beta + gamma': [('gamma', 'beta', 'gamma', 'It multiplies by beta and adds gamma: exchange them.'), ('beta', 'gamma', 'beta', 'It multiplies by beta and adds gamma: exchange them.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma - beta': [('beta', 'another offset', 'beta', 'It subtracts beta instead of adding it.')],
    'layer norm: xhat * gamma + beta -> beta - xhat * gamma': [('gamma', 'another factor', 'gamma', 'It multiplies by -gamma, not by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat / gamma + beta': [('gamma', 'another factor', 'gamma', 'It divides by gamma instead of multiplying by it.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma ** 2 + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by gamma^2, not by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma.abs() + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by the absolute value of gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma.exp() + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by exp(gamma), not by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * (1 + gamma) + beta': [('gamma', '1 + gamma', 'gamma', 'It multiplies by 1 + gamma, not by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * (1 - gamma) + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by 1 - gamma, not by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * (gamma + beta) + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by gamma + beta, not by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma * beta + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by gamma and by beta.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma.sqrt() + beta': [('gamma', 'another factor', 'gamma', 'It uses gamma, but not as one factor.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma.mean() + beta': [('parameters', 'for all elements', 'for each index of D', 'It has one gamma for all elements; LayerNorm(6) has one for each index of D.')],
    'layer norm: xhat * gamma + beta -> 2 * xhat * gamma + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by 2*gamma, not by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat + beta': [('gamma', 'another factor', 'gamma', 'It does not use gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma': [('beta', 'another offset', 'beta', 'It does not use beta.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + gamma': [('beta', 'another offset', 'beta', 'It adds gamma, not beta.')],
    'layer norm: xhat * gamma + beta -> xhat * beta + beta': [('gamma', 'another factor', 'gamma', 'It multiplies by beta, not by gamma.')],
    'layer norm: xhat * gamma + beta -> (xhat + beta) * gamma': [('beta', 'another offset', 'beta', 'It adds beta before it multiplies by gamma; add it afterwards.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta / gamma': [('beta', 'another offset', 'beta', 'It divides beta by gamma.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta ** 2': [('beta', 'another offset', 'beta', 'It adds beta^2, not beta.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta.abs()': [('beta', 'another offset', 'beta', 'It adds the absolute value of beta.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta.exp()': [('beta', 'another offset', 'beta', 'It adds exp(beta), not beta.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta.mean()': [('parameters', 'for all elements', 'for each index of D', 'It has one beta for all elements; LayerNorm(6) has one for each index of D.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta.flip(0)': [('beta', 'another offset', 'beta', 'It uses beta in another order.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + 2 * beta': [('beta', 'another offset', 'beta', 'It adds 2*beta, not beta.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta + 1': [('offset', '1', '0', 'It adds 1, which is no parameter.')],
    'layer norm: mean = x -> x = x * gamma; gamma = 1; mean = x': [('gamma', 'before the normalization', 'after the normalization', 'It multiplies x by gamma before it normalizes; multiply afterwards.')],
    'layer norm: mean = x -> x = x + beta; beta = 0; mean = x': [('beta', 'before the normalization', 'after the normalization', 'It adds beta to x before it normalizes; add it afterwards.')],
    'layer norm: xhat * gamma + beta -> (xhat * gamma + beta).clamp(min=0)': [('values', 'other values', 'those of the formula', 'It replaces negative outputs with 0, as ReLU does.')],
    'layer norm: (var + 1e-5).sqrt() -> (var + 1e-3).sqrt()': [('eps', '0.001', '1e-05', 'Its eps is 0.001, not 1e-05.')],
    'layer norm: (var + 1e-5).sqrt() -> (var - 1e-5).sqrt()': [('eps', '-1e-05', '1e-05', 'Its eps is -1e-05, not 1e-05.')],
    'layer norm: (var + 1e-5).sqrt() -> (var.sqrt() + 1e-5)': [('eps_placement', 'outside the root', 'inside the root', 'It adds eps to the standard deviation, outside the root, not to the variance.')],
    'layer norm: (var + 1e-5).sqrt() -> var.clamp(min=1e-5).sqrt()': [('eps_placement', 'as the smallest denominator', 'inside the root', 'It takes the maximum of the denominator and eps instead of adding eps to the variance.')],
    'layer norm: (var + 1e-5).sqrt() -> (var + 1e-5)': [('variance', 'the variance', 'the root of the variance', 'It divides by the variance, not by its root: the root is forgotten.')],
    'layer norm: (var + 1e-5).sqrt() -> (var + 1e-5) ** 2': [('variance', 'another denominator', 'the standard deviation', 'It subtracts the mean, but it divides by another number than the standard deviation.')],
    'layer norm: / (var -> * (var': [('variance', 'a product', 'a quotient', 'It multiplies by the standard deviation instead of dividing by it.')],
    'layer norm: (x - mean) / ( -> x / (': [('center', 'no mean is subtracted', 'the mean is subtracted', 'It does not subtract the mean.')],
    'layer norm: (x - mean) / ( -> (x + mean) / (': [('center', 'another number', 'the mean is subtracted', 'It adds the mean instead of subtracting it.')],
    'layer norm: (x - mean) / ( -> (x - 2 * mean) / (': [('center', 'another number', 'the mean is subtracted', 'It subtracts twice the mean.')],
    'layer norm: (x - mean) / (var + 1e-5).sqrt() -> x - mean': [('variance', 'no division', 'the standard deviation', 'It subtracts the mean, and does not divide by the standard deviation.')],
    'layer norm: (x - mean).square() -> (x - mean).abs()': [('variance', 'deviations that are not squared', 'the mean of squares', 'It averages the deviations, not their squares: the square is forgotten.')],
    'layer norm: (x - mean).square() -> x.square()': [('variance', 'the mean of x^2', 'the variance', 'It divides by the root of the mean of x^2, not by the standard deviation.')],
    'layer norm: mean = x.mean( -> mean = x.sum(': [('center', 'another number', 'the mean is subtracted', 'It subtracts the sum, not the mean.')],
    'layer norm: mean = x.mean( -> mean = x.abs().mean(': [('center', 'another number', 'the mean is subtracted', 'It subtracts the mean of the absolute values, not the mean.')],
    'layer norm: mean = x.mean( -> mean = x.var(': [('center', 'another number', 'the mean is subtracted', 'It subtracts the variance, not the mean.')],
    'layer norm: mean = x.mean(-1, keepdim=True) -> mean = x.var(-1, keepdim=True, correction=0)': [('center', 'another number', 'the mean is subtracted', 'It subtracts the variance, not the mean.')],
    'layer norm: mean = x.mean(-1, keepdim=True) -> mean = x.median(-1, keepdim=True).values': [('center', 'another number', 'the mean is subtracted', 'It subtracts the median, not the mean.')],
    'layer norm: mean = x.mean(-1, keepdim=True) -> mean = x[:, :1]': [('center', 'another number', 'the mean is subtracted', 'It subtracts the first element of each group, not the mean.')],
    'layer norm: mean = x.mean(-1, -> mean = x.mean(0,': [('statistics', 'N', 'D', 'Its mean is over N, not over D.')],
    'layer norm: square().mean(-1, -> square().mean(0,': [('statistics', 'N', 'D', 'Its variance is over N, not over D.')],
    'layer norm: mean(-1, -> mean(0,': [('statistics', 'N', 'D', 'Your function averages over N; LayerNorm(6) averages over D.')],
    'layer norm: square().mean(-1, keepdim=True) -> square().sum(-1, keepdim=True)': [('variance', '1', 'm', 'It does not divide the sum of squares by m, the size of a group.')],
    'layer norm: square().mean(-1, keepdim=True) -> square().sum(-1, keepdim=True) / 5': [('variance', 'm - 1', 'm', 'It divides the sum of squares by m - 1, not m, the size of a group.')],
    'layer norm: square().mean(-1, keepdim=True) -> square().sum(-1, keepdim=True) / 7': [('variance', '7', 'm', 'It divides the sum of squares by 7, not by m = 6, the size of a group.')],
    'layer norm: xhat * gamma + beta -> (xhat * gamma + beta).half()': [('dtype', 'float16', 'float32', 'Its output is float16, not float32.')],
    'layer norm: mean = x -> x = x.detach(); mean = x': [('backward', 'another dx', 'dx', 'Its output is right, but not its gradient: dx differs by up to 3.6.')],
    'layer norm: mean = x.mean(-1, keepdim=True) -> mean = x.mean(-1, keepdim=True).detach()': [('backward', 'another dx', 'dx', 'Its output is right, but not its gradient: dx differs by up to 1.1. It treats the mean as a constant: do not detach it.')],
    'layer norm: / (var + 1e-5).sqrt() -> / (var + 1e-5).sqrt().detach()': [('backward', 'another dx', 'dx', 'Its output is right, but not its gradient: dx differs by up to 1.1. It treats the variance as a constant: do not detach it.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma.detach() + beta': [('backward', 'another dgamma', 'dgamma', 'Its output is right, but not its gradient: dgamma differs by up to 2.2.')],
    'layer norm: xhat * gamma + beta -> xhat * gamma + beta.detach()': [('backward', 'another dbeta', 'dbeta', 'Its output is right, but not its gradient: dbeta differs by up to 4.4.')],
    'a square x: mean(1, keepdim=True) -> mean(1)': [('statistics', 'statistics without keepdim', 'statistics of each group', 'Its statistics have no axis of size 1 where they average, so they are combined with the wrong elements of x: keepdim=True is forgotten (keepdims=True in NumPy).')],
    'a square x: return -> return 1.5 *': [('factor', '1.5', '1', 'It multiplies by 1.5, which is no parameter.')],
    'a square x: return -> return torch.arange(1., 6.) *': [('factor', 'another factor', '1', 'It multiplies by numbers that are no parameter of it.')],
    'a square x: return -> return torch.arange(5.) +': [('offset', 'another offset', '0', 'It adds numbers that are no parameter of it.')],
    'two axes: (1, 2) -> (0, 2)': [('statistics', 'N and C', 'L and C', 'Your function averages over N and C; LayerNorm([4, 5]) averages over L and C.')],
    'two axes: (1, 2) -> (0, 1, 2)': [('statistics', 'N, L and C', 'L and C', 'Your function averages over N, L and C; LayerNorm([4, 5]) averages over L and C.')],
    'two axes: mean((1, 2) -> mean((2,)': [('statistics', 'C', 'L and C', 'Its mean is over C, not over L and C.')],
    'two axes: var((1, 2) -> var((0, 1, 2)': [('statistics', 'N, L and C', 'L and C', 'Its variance is over N, L and C, not over L and C.')],
    'two axes: weight * -> weight[0] *': [('parameters', 'for each index of C', 'for each position in (L, C)', 'It has one gamma for each index of C; LayerNorm([4, 5]) has one for each position in (L, C).')],
    'two axes: + bias -> + bias[0]': [('parameters', 'for each index of C', 'for each position in (L, C)', 'It has one beta for each index of C; LayerNorm([4, 5]) has one for each position in (L, C).')],
    'a module: -1, -> 1,': [('statistics', 'L', 'C', 'Your function averages over L; LayerNorm(5) averages over C.')],
    'a module: mean = x.mean(-1, keepdim=True) -> mean = x.mean(-1, keepdim=True) if self.training else 0': [('training', 'another output in eval mode', 'the same output', 'In eval mode, its output is not that of LayerNorm(5), which is the same in both modes.')],
    'a module: torch.ones(size) -> torch.ones(4, 1)': [('parameters', 'for each index of L', 'for each index of C', 'It has one gamma for each index of L; LayerNorm(5) has one for each index of C.')],
    'a module: torch.ones(size) -> torch.ones(1)': [('parameters', 'for all elements', 'for each index of C', 'It has one gamma for all elements; LayerNorm(5) has one for each index of C.')],
    'NumPy: gamma * xhat -> gamma[:, None] * xhat': [('parameters', 'for each index of N', 'for each index of D', 'It has one gamma for each index of N; LayerNorm(6) has one for each index of D.')],
    'NumPy, columns: axis=0 -> axis=1, keepdims=True': [('statistics', 'D', 'N', 'Your function averages over D; BatchNorm1d(5) averages over N.')],
    'batch norm: (0, 2) -> (2,)': [('statistics', 'L', 'N and L', 'Your function averages over L; BatchNorm1d(4) averages over N and L.')],
    'F.batch_norm: None, None, weight, bias, True -> torch.zeros(4), torch.ones(4), weight, bias, False': [('training', 'stored statistics', 'the statistics of x', 'It uses stored statistics, as in eval mode, instead of those of x.')],
    'LayerNorm(5) for LayerNorm(5, elementwise_affine=False)': [('gamma', 'gamma', 'no gamma', 'It multiplies by a gamma, and LayerNorm(5, elementwise_affine=False) has none.'), ('beta', 'beta', 'no beta', 'It adds a beta, and LayerNorm(5, elementwise_affine=False) has none.')],
    'BatchNorm1d(4, momentum=0.9) for BatchNorm1d(4)': [('running', 'another running_mean', 'running_mean', 'It exchanges momentum and 1 - momentum in running_mean.'), ('running', 'another running_var', 'running_var', 'It exchanges momentum and 1 - momentum in running_var.')],
    'BatchNorm1d(4, track_running_stats=False) for BatchNorm1d(4)': [('running', 'another output in eval mode', 'the output with running statistics', 'In eval mode it uses the statistics of x, not the running ones.')],
    'GroupNorm(2, 4) for GroupNorm(1, 4)': [('statistics', 'L and groups of 2 neighbors along C', 'C and L', 'Your function averages over L and groups of 2 neighbors along C; GroupNorm(1, 4) averages over C and L.')],
    'BatchNorm2d(4) for GroupNorm(2, 4)': [('statistics', 'N, H and W', 'H, W and groups of 2 neighbors along C', 'Your function averages over N, H and W; GroupNorm(2, 4) averages over H, W and groups of 2 neighbors along C.')],
    'InstanceNorm2d(4, affine=True) for BatchNorm2d(4)': [('statistics', 'H and W', 'N, H and W', 'Your function averages over H and W; BatchNorm2d(4) averages over N, H and W.')],
    'LayerNorm([3, 3]) for InstanceNorm2d(4, affine=True)': [('parameters', 'for each position in (H, W)', 'for each index of C', 'It has one gamma for each position in (H, W); InstanceNorm2d(4, affine=True) has one for each index of C.')],
    'running statistics: (1 - 0.1) * self.running_mean + 0.1 * mean -> self.running_mean': [('running', 'another running_mean', 'running_mean', 'It never updates running_mean.')],
    'running statistics: (1 - 0.1) * self.running_var + 0.1 * unbiased -> self.running_var': [('running', 'another running_var', 'running_var', 'It never updates running_var.')],
    'running statistics: (1 - 0.1) -> 0.1': [('running', 'another running_mean', 'running_mean', 'Its running_mean after two batches differs from that of BatchNorm1d(3).'), ('running', 'another running_var', 'running_var', 'Its running_var after two batches differs from that of BatchNorm1d(3).')],
    'running statistics: 0.1 * unbiased -> 0.1 * var': [('running', 'another running_var', 'running_var', 'Its running_var is updated with the biased variance; torch uses the unbiased one, divided by m - 1.')],
    'running statistics: 0.1 * unbiased -> 0.1 * unbiased.sqrt()': [('running', 'another running_var', 'running_var', 'Its running_var is updated with the standard deviation, not with the variance.')],
    'running statistics: (1 - 0.1) * self.running_mean + 0.1 * mean -> mean': [('running', 'another running_mean', 'running_mean', 'It replaces running_mean with the statistics of the last batch.')],
    'running statistics: (1 - 0.1) * self.running_var + 0.1 * unbiased -> unbiased': [('running', 'another running_var', 'running_var', 'It replaces running_var with the statistics of the last batch.')],
    'running statistics: mean, var = self.running_mean, self.running_var -> mean, var = self.running_mean, self.running_var.sqrt()': [('running', 'another output in eval mode', 'the output with running statistics', 'In eval mode, after two batches, its output is not that of BatchNorm1d(3).')],
    'running statistics: mean, var = self.running_mean, self.running_var -> mean, var = self.running_mean, self.running_var self.running_mean = 0.9 * self.running_mean': [('running', 'another running_mean', 'running_mean', 'It updates running_mean in eval mode, too.')],
    'eval mode: mean, var = self.running_mean, self.running_var -> mean, var = x.mean(0), x.var(0, correction=0)': [('training', 'the statistics of x', 'stored statistics', 'It computes the statistics of x, as in training mode, instead of using stored ones.')],
    'instance norm: (2, 3) -> (1, 2, 3)': [('statistics', 'C, H and W', 'H and W', 'Your function averages over C, H and W; InstanceNorm2d(3) averages over H and W.')],
    'instance norm: mean(dim=(2, 3) -> mean(dim=(1, 2, 3)': [('statistics', 'C, H and W', 'H and W', 'Its mean is over C, H and W, not over H and W.')],
    'instance norm: x.mean(dim=(2, 3), keepdim=True) -> x.sum(dim=(2, 3), keepdim=True) / 20': [('sizes', 'another output on (7, 9, 11, 13)', 'the output of the layer', 'It is right on (2, 3, 4, 5), but not on (7, 9, 11, 13): there its output differs by up to 4.48.'), ('center', '20', 'm', 'For the mean, it divides the sum by 20, not by m = 143, the size of a group.')],
    'group norm: x.reshape(n, 2, c // 2, h, w) -> x.reshape(n, 3, c // 3, h, w)': [('statistics', 'H, W and groups of 2 neighbors along C', 'H, W and groups of 3 neighbors along C', 'Your function averages over H, W and groups of 2 neighbors along C; GroupNorm(2, 6) averages over H, W and groups of 3 neighbors along C.')],
    'group norm: (2, 3, 4) -> (1, 2, 3, 4)': [('statistics', 'C, H and W', 'H, W and groups of 3 neighbors along C', 'Your function averages over C, H and W; GroupNorm(2, 6) averages over H, W and groups of 3 neighbors along C.')],
    'group norm: (2, 3, 4) -> (0, 2, 3, 4)': [('statistics', 'N, H, W and groups of 3 neighbors along C', 'H, W and groups of 3 neighbors along C', 'Your function averages over N, H, W and groups of 3 neighbors along C; GroupNorm(2, 6) averages over H, W and groups of 3 neighbors along C.')],
    'group norm: mean = g.mean((2, 3, 4) -> mean = g.mean((3, 4)': [('statistics', 'H and W', 'H, W and groups of 3 neighbors along C', 'Its mean is over H and W, not over H, W and groups of 3 neighbors along C.')],
    'group norm: x.reshape(n, 2, c // 2, h, w) -> x.reshape(n, c // 2, 2, h, w).transpose(1, 2)': [('statistics', 'H, W and indices of C that are 2 apart', 'H, W and groups of 3 neighbors along C', 'Your function averages over H, W and indices of C that are 2 apart; GroupNorm(2, 6) averages over H, W and groups of 3 neighbors along C.')],
    'RMSNorm: wide * torch -> (wide - wide.mean(-1, keepdim=True)) * torch': [('center', 'the mean is subtracted', 'no mean is subtracted', 'It subtracts the mean, and it should not.')],
    'RMSNorm: pow(2) -> pow(4)': [('variance', 'another denominator', 'the root of the mean of x^2', 'It divides by another number than the root of the mean of x^2.')],
    'RMSNorm: pow(2) -> sub(wide.mean(-1, keepdim=True)).pow(2)': [('variance', 'the variance', 'the mean of x^2', 'It divides by the standard deviation, not by the root of the mean of x^2.')],
    'RMSNorm in float16: .to(x.dtype) -> .bfloat16()': [('dtype', 'bfloat16', 'float16', 'Its output is bfloat16, not float16.')],
    'constants: torch.zeros(5, requires_grad=True) -> -0.5': [('offset', '-0.5', '0', 'It adds -0.5, which is no parameter.')],
    'autograd.Function: dxhat - first - xhat * second -> dxhat': [('backward', 'another dx', 'dx', 'Its output is right, but not its gradient: dx differs by up to 2.2. It treats the mean and the variance as constants: do not detach them.')],
    'autograd.Function: dxhat = dout * gamma -> dxhat = dout': [('backward', 'another dx', 'dx', 'Its output is right, but not its gradient: dx differs by up to 3.3. dx does not contain gamma.')],
    'autograd.Function: return dx, -> return -dx,': [('backward', 'another dx', 'dx', 'Its output is right, but not its gradient: dx differs by up to 7.2. dx has the opposite sign.')],
    'autograd.Function: dx, dgamma, dbeta -> dx, dbeta, dgamma': [('backward', 'another dgamma and dbeta', 'dgamma and dbeta', 'Its output is right, but not its gradient: dgamma and dbeta differ by up to 4.8.')],
    'a padded kernel: torch.where(inside, padded - mean, 0.) -> padded - mean': [('sizes', 'another output on (3, 6)', 'the output of the layer', 'It is right on (3, 8), but not on (3, 6): there its output differs by up to 0.111.'), ('variance', 'the variance with 2 zeros of padding', 'the variance', 'Its variance counts 2 zeros of padding in each group, each with the square of the mean: leave them out of the sum of squares.')],
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_half if "half()" in name else ()) for name in DIFFERENCES]
)
def test_a_mistake_is_told_in_a_sentence(name):
    found = NAMED[name].check()
    assert [(one.what, one.found, one.expected, one.sentence) for one in found.differences] == DIFFERENCES[name]
    sentences = dict.fromkeys(one.sentence for one in found.differences)
    if "statistics" not in {one.what for one in found.differences}:
        assert str(found).partition(" x has ")[0] == " ".join(sentences)


TEXTS = {
    "layer norm: mean(-1, -> mean(0,": "LayerNorm(6) averages over D. Your function averages over N (like BatchNorm1d).",
    "batch norm: (0, 2) -> (0, 1, 2)": "BatchNorm1d(4) averages over N and L. Your function averages over N, C and L.",
    "group norm: (2, 3, 4) -> (0, 2, 3, 4)": "GroupNorm(2, 6) averages over H, W and groups of 3 neighbors along C. Your function averages over N, H, W and groups of 3 neighbors along C.",
    "group norm: 2, c // 2 -> c // 2, 2": "GroupNorm(2, 6) averages over H, W and groups of 3 neighbors along C. Your function averages over H, W and groups of 2 neighbors along C (like GroupNorm).",
    "instance norm: (2, 3) -> (1, 2)": "InstanceNorm2d(3) averages over H and W. Your function averages over C and H.",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_other_groups_are_told_in_two_sentences(name):
    assert str(NAMED[name].check()) == TEXTS[name]


# Sentences about measurements that are made up

LAYER = expect("LayerNorm(2)", (2, 2), None)
ZERO_CENTERED = replace(LAYER, norm=replace(LAYER.norm, zero_centered_gamma=True), layer=None)
ROWS, COLUMNS, ALL = (np.array(ids) for ids in ([[0, 0], [1, 1]], [[0, 1], [0, 1]], [[0, 0], [0, 0]]))
ONES, ZEROS = torch.ones(2, 2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
BOTH = Quotient(True, True)
RIGHT = Measurement(Reach((2, 2), {}), torch.float64, ROWS, Formula(BOTH, ONES, ZEROS), eps=Eps(1e-5, "inside"), gamma=Learned(COLUMNS), beta=Learned(COLUMNS))  # fmt: skip


def parts(differences):
    return [(one.what, one.found, one.expected, one.sentence) for one in differences]


def test_a_mean_square_that_is_a_constant_is_told_so():
    def fn(x):
        return x / (x.square().mean(-1, keepdim=True).detach() + 1e-5).sqrt()

    assert str(nv.check(fn, (4, 6), RMS)).endswith("It treats the mean of x^2 as a constant: do not detach it.")


EVAL = expect("BatchNorm1d(2).eval()", (2, 2), None)


RMS = "RMSNorm(6, eps=1e-5)"
MEAN_SQUARES = [
    (lambda x, ms: x / (ms.sqrt() + 1e-5), "It adds eps to the root of the mean of x^2, not inside the root."),
    (lambda x, ms: x / ms.sqrt().clamp(min=1e-5), "It takes the maximum of the denominator and eps instead of adding eps to the mean of x^2."),
    (lambda x, ms: x * (ms + 1e-5).sqrt(), "It multiplies by the root of the mean of x^2 instead of dividing by it."),
    (lambda x, ms: x / (x.abs().mean(-1, keepdim=True) + 1e-5), "It divides by the mean of |x|, not by the root of the mean of x^2: the square is forgotten."),
    (lambda x, ms: x / (x.abs().mean(-1, keepdim=True) + 1e-5).sqrt(), "It averages the values, not their squares: the square is forgotten."),
    (lambda x, ms: x / x.abs().sum(-1, keepdim=True), "It divides by the sum of |x|, not by the root of the mean of x^2: the square is forgotten. Its eps is 0, not 1e-05."),
    (lambda x, ms: x / (x.abs().median(-1, keepdim=True).values + 1e-5), "It divides by another number than the root of the mean of x^2."),
    (lambda x, ms: x / (ms + 1e-5), "It divides by the mean of x^2, not by its root: the root is forgotten."),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "sentence"), MEAN_SQUARES)
def test_an_rms_norm_has_a_mean_square_and_no_variance(fn, sentence):
    found = nv.check(lambda x: fn(x, x.square().mean(-1, keepdim=True)), (4, 6), RMS)
    assert " ".join(one.sentence for one in found.differences) == sentence


def test_without_a_norm_the_reasons_are_told():
    across = np.array([[0, 1], [1, 0]])
    groups = ("statistics", "groups that are not made of whole or split axes", "groups that a pattern describes", "Its groups are not made of whole or split axes of x, so no pattern describes them.")  # fmt: skip
    values = ("values", "other values", "those of the formula", "For some x, its output is not that of the formula.")  # fmt: skip
    assert parts(report.without_like(RIGHT, LAYER.norm)) == []
    assert parts(report.without_like(RIGHT, None)) == [values]
    assert parts(report.without_like(replace(RIGHT, ids=None), None)) == [values]
    assert parts(report.without_like(replace(RIGHT, ids=across), None)) == [groups]
    assert [one[0] for one in parts(report.without_like(replace(RIGHT, formula=None), None))] == ["not_normalization"]
    several = replace(RIGHT, divisor="m - 1", eps=Eps(1e-5, "outside"), formula=Formula(Quotient(True, False), ONES, ZEROS))  # fmt: skip
    assert [one[:3] for one in parts(report.without_like(several, None))] == [
        ("variance", "m - 1", "m"), ("eps_placement", "outside the root", "inside the root"), ("variance", "the mean of x^2", "the variance"),
    ]  # fmt: skip


def test_constants():
    assert [report.constant_value(torch.tensor(values)) for values in ([2.0, 2, 2.0001], [2.0, 2.1], [0.0, 1e-7], [0.0, 1e-6], [1.23456] * 2)] == [2, None, 0, None, 1.23]  # fmt: skip
    assert parts([report.constant_factor(None), report.constant_factor(0.5), report.constant_offset(None), report.constant_offset(1e-3)]) == [
        ("factor", "another factor", "1", "It multiplies by numbers that are no parameter of it."),
        ("factor", "0.5", "1", "It multiplies by 0.5, which is no parameter."),
        ("offset", "another offset", "0", "It adds numbers that are no parameter of it."),
        ("offset", "0.001", "0", "It adds 0.001, which is no parameter."),
    ]  # fmt: skip


WRONG_AT = Error(0.12345, (1, 0), False)
INFINITE = Error(float("inf"), (0, 1), False)
ERRORS = [
    (lambda: report.differs_by(WRONG_AT, 1.0, 1.12345, "LayerNorm(2)"), ("values", "other values", "those of the formula", "Its output differs from that of LayerNorm(2) by up to 0.123: at [1, 0] it is 1, and it must be 1.123.")),
    (lambda: report.differs_by(replace(WRONG_AT, ok=True), 1.0, 1.0, "LayerNorm(2)"), ("values", "other values", "those of the formula", "Its output is that of LayerNorm(2) on x, but not on other values.")),
    (lambda: report.imprecise(WRONG_AT, torch.float16), ("precision", "rounding errors in float16", "the precision of torch", "It is right in float64. In float16, its largest error on x is 0.123, at [1, 0].")),
    (lambda: report.imprecise(WRONG_AT, torch.float32, only_near=True), ("precision", "rounding errors in float32", "the precision of torch", "It is right for x near zero. In float32, its largest error on x is 0.123, at [1, 0].")),
    (lambda: report.imprecise(INFINITE, torch.float16), ("precision", "rounding errors in float16", "the precision of torch", "It is right in float64. In float16, its output is not finite at [0, 1].")),
    (lambda: report.rounds(WRONG_AT, torch.bfloat16, torch.float32), ("precision", "rounding errors in bfloat16", "the precision of torch", "It rounds to bfloat16 on the way: its largest error is 0.123, at [1, 0]. Compute in float32.")),
    (lambda: report.vanishing_eps(torch.float16), ("precision", "an eps of 0 in float16", "a finite output", "Its output is not finite where all elements of a group are equal: in float16, its eps is too small to count. Compute in float32.")),
    (lambda: report.other_dtype(torch.float16, torch.float32), ("dtype", "float16", "float32", "Its output is float16, not float32.")),
    (lambda: report.other_size((3, 4), (3, 5), WRONG_AT), ("sizes", "another output on (3, 5)", "the output of the layer", "It is right on (3, 4), but not on (3, 5): there its output differs by up to 0.123.")),
]  # fmt: skip


@pytest.mark.parametrize(("make", "wanted"), ERRORS)
def test_an_error_is_told_with_its_size_and_place(make, wanted):
    assert parts([make()]) == [wanted]


def test_a_difference_for_unlike_x_is_a_note():
    assert [report.extreme_note(name, 0.12345, "LayerNorm(2)") for name in ("far", "large", "small")] == [
        f"For {x}, its output differs from that of LayerNorm(2) by up to 0.123."
        for x in ("an x much farther from zero", "a much larger x", "a much smaller x")
    ]


AXES = [
    ("n c l -> c", (3, 4, 5), "N and L"),
    ("n c h w -> n", (2, 6, 3, 5), "C, H and W"),
    ("n (g k) l -> n g", (2, 6, 5), "L and groups of 3 neighbors along C"),
    ("n (g k) l -> n k", (2, 6, 5), "L and indices of C that are 3 apart"),
    ("n (g k) l -> n", (2, 6, 5), "C and L"),
    ("n c l -> n c l", (2, 6, 5), "no axis"),
    ("n (g k m) l -> n g m l", (2, 8, 5), "parts of C"),
]


@pytest.mark.parametrize(("pattern", "shape", "words"), AXES)
def test_the_axes_are_told_in_words(pattern, shape, words):
    sizes = {
        name: size for name, size in (("g", 2), ("m", 2)) if f"{name}" in pattern.partition(")")[0].partition("(")[2]
    }
    norm, names = Norm(pattern, None, sizes=sizes), ("n", "c", "l") if len(shape) == 3 else ("n", "c", "h", "w")
    assert report.axes_text(norm, names, shape) == words
    ids = describe(norm, shape).stat_ids
    assert report.groups_text(Measurement(Reach(shape, {}), torch.float64, ids), names) == words


def test_groups_that_have_no_axes_are_told_so():
    assert report.groups_text(Measurement(Reach((2, 2), {}), torch.float64, None), "nd") == "groups that are not made of whole axes"  # fmt: skip
    assert report.pattern_text(np.zeros((1, 3)).astype(int), "nd") == "for all elements"
    assert report.pattern_text(np.array([[0, 1, 2]]), "nd") == "for each index of D"
    assert [report.each_text(names) for names in ([], ["C"], ["C", "H"])] == ["for all elements", "for each index of C", "for each position in (C, H)"]  # fmt: skip


def text(found=RIGHT, expected=None, differs=(), similar=""):
    return report.text(found, expected, differs, ("n", "d"), similar)


def test_the_text_begins_with_what_the_function_does():
    assert text() == "Your function averages over D."
    assert text(similar="LayerNorm") == "Your function averages over D (like LayerNorm)."
    assert text(replace(RIGHT, running=True)) == "Your function uses stored statistics."
    assert text(replace(RIGHT, running=True), similar="BatchNorm1d") == "Your function uses stored statistics (like BatchNorm1d)."  # fmt: skip
    assert text(replace(RIGHT, ids=None), similar="x") == "In your function, the elements do not form groups that share their statistics."  # fmt: skip
    assert text(None, LAYER) == "Your function does what LayerNorm(2) does: it averages over D."
    assert text(RIGHT, EVAL) == "Your function does what BatchNorm1d(2).eval() does: it uses stored statistics."
    difference = report.other_dtype(torch.float16, torch.float32)
    assert text(None, LAYER, [difference, difference]) == difference.sentence
    assert text(RIGHT, None, [difference]) == f"Your function averages over D. {difference.sentence}"
    statistics = Difference("statistics", "N", "D", "S.")
    assert text(None, LAYER, [statistics]) == "S."
    assert text(RIGHT, LAYER, [statistics], "RMSNorm") == "LayerNorm(2) averages over D. Your function averages over D (like RMSNorm)."  # fmt: skip
    assert text(RIGHT, None, [statistics]) == "Your function averages over D. S."


def test_a_sample_is_told():
    large = Measurement(Reach((100, 50), {(0, 0): None, (9, 9): None}), torch.float64, None)
    assert text(replace(large, instead=(500, 600))).endswith(
        "statistics. x has 300,000 elements, so a smaller x of shape (100, 50) was measured. In x of shape (500, 600), a change of one input reaches outputs along the same axes."
    )
    assert text(large).endswith(
        "x has 5,000 elements; only 2 of them were changed to see which outputs depend on them."
    )


def test_the_result_of_a_check_has_plain_values():
    found = nv.check(lambda x: 2 * torch.nn.functional.layer_norm(x, (5,)), (3, 5), "LayerNorm(5)")
    assert found.to_dict() == {
        "ok": False,
        "text": "It multiplies by 2, which is no parameter.",
        "norm": "Norm('n d -> n', '', bias=False)",
        "layer": None,
        "reduced": [1],
        "differences": [{"what": "factor", "found": "2", "expected": "1", "sentence": "It multiplies by 2, which is no parameter.", "remedy": "Leave out this factor."}],
        "sampled": False,
        "notes": [],
        "trials": found.trials.to_dict(),
        "example": found.example.to_dict(),
    }  # fmt: skip
    results = [(one["trial"], one["result"]) for one in found.to_dict()["trials"]]
    assert results == [("given x", "differs"), ("gradients", "right"), ("in place", "right")]
    assert found.to_dict()["example"]["x"] == [[0.0, 0.0, 0.0, 0.0, 1.0]]
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
