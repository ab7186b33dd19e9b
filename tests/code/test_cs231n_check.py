import pytest

from normviz.code import cs231n_check


@pytest.mark.parametrize("seed", range(3))
def test_the_courses_functions_agree_with_torch(seed):
    gaps = cs231n_check.agreement(seed)
    assert list(gaps) == ["out", "dx", "dgamma", "dbeta"]
    assert all(0 <= gap < 1e-12 for gap in gaps.values())


def test_what_is_shown_are_both_functions_with_their_arithmetic():
    source = cs231n_check.source()
    compile(source, "course", "exec")
    assert source.index("def layernorm_forward(") < source.index("def layernorm_backward(")
    assert "sigma = np.sqrt(var + eps)" in source
    assert "dx = dxhat - through_mean - xhat * through_var" in source
