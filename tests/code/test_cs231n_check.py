import pytest

from normviz.code import cs231n


@pytest.mark.parametrize("seed", range(3))
def test_the_functions_agree_with_torch(seed):
    differences = cs231n.largest_differences(seed)
    assert list(differences) == ["out", "dx", "dgamma", "dbeta"]
    assert all(0 <= difference < 1e-12 for difference in differences.values())


def test_the_source_has_both_functions_and_their_arithmetic():
    source = cs231n.source()
    compile(source, "course", "exec")
    assert source.index("def layernorm_forward(") < source.index("def layernorm_backward(")
    assert "sigma = np.sqrt(var + eps)" in source
    assert "dx = dxhat - through_mean - xhat * through_var" in source
