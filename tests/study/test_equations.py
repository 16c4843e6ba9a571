"""Whether a file belongs to a family: decided by name, parameters and a hash of the equations."""

import metalic as mt
from metalic.study.equations import equations_hash


class Decay(mt.Family):
    parameters = {"a": (0.5, 2.0)}
    domain = mt.Box(x=(0, 1), t=(0, 1))
    decomposition = mt.split(domain, t=[0.5])

    def residual(self, u, p, a):
        return u.t + a * u.value

    def boundary(self):
        return [mt.Dirichlet("t=0", 1.0)]


def test_equal_families_have_equal_hashes_and_options_count():
    assert equations_hash(mt.find_family("poisson")) == equations_hash(mt.find_family("poisson"))
    assert equations_hash(mt.find_family("poisson")) != equations_hash(mt.find_family("burgers"))
    burgers = type(mt.find_family("burgers"))
    assert equations_hash(burgers()) != equations_hash(burgers(final_data=True))


def plain():
    class One(Decay):
        def residual(self, u, p, a):
            return u.t + a * u.value

    return One


def documented():
    class One(Decay):
        """With a docstring."""

        def residual(self, u, p, a):
            """Which it has, too."""
            return u.t + a * u.value  # and a comment

    return One


def annotated():
    class One(Decay):
        def residual(self, u: mt.Family, p: object, a: float) -> object:
            return u.t + a * u.value

        def reference(self, a: float) -> object:
            return lambda points: 0 * points[:, 0]

    return One


def changed():
    class One(Decay):
        def residual(self, u, p, a):
            return u.t + 2 * a * u.value

    return One


def test_code_counts_and_comments_annotations_and_the_reference_do_not():
    one, *same, other = (equations_hash(mt.find_family(make())) for make in (plain, documented, annotated, changed))
    assert same == [one, one]
    assert one != other


def test_code_without_a_source_has_no_hash():
    family = {}
    exec("class Nowhere(Decay):\n    pass", {"Decay": Decay}, family)
    assert equations_hash(mt.find_family(family["Nowhere"])) is None
