"""The error of a solution, found by solving the equation for it: Newton's method in polynomials on each box.

The networks are kept; what is sought is e, so that u + e fulfils the equation, its boundary conditions and the
complete set of interface conditions at many points, in the sense of least squares. e is a polynomial on each box of
each subdomain. Nothing here depends on how the networks were trained, on their set of conditions, or on what they can
represent. An estimate counts as reliable if polynomials of a lower degree give nearly the same one and next to nothing
is left of the residual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..families.derivatives import Partial
from .defect import Defect
from .linearised import Row, Term, loss_terms
from .polynomials import Polynomials

LEVELS = (0.5, 0.7, 1.0)  # of the highest degree
AGREEMENT = 1.15  # of two levels
MOST_LEFT = 1e-3  # of the squares of the residual of the networks: with more, a layer may be missed
NEWTON_STEPS, HALVINGS = 5, 4
RIDGE, TINY = 1e-14, 1e-300


@dataclass(frozen=True)
class Correction:
    """The error on the family's grid, and whether it can be relied on."""

    error: Float[np.ndarray, "n m"] = field(repr=False)
    reliable: bool


def correction(defect: Defect) -> Correction:
    """The error by polynomials of rising degree, until two degrees agree."""
    previous = None
    for part in LEVELS:
        polynomials = Polynomials(defect.low, defect.high, max(1, round(part * defect.degree)))
        newton = _Newton(defect, polynomials)
        left = newton.run()
        error = newton.on(defect.family.error_points())
        if left < MOST_LEFT and previous is not None and _agree(error, previous):
            return Correction(error, True)
        previous = error
    return Correction(error, False)


def _agree(one: Float[np.ndarray, "n m"], other: Float[np.ndarray, "n m"]) -> bool:
    a, b = np.linalg.norm(one), np.linalg.norm(other)
    return bool(a <= AGREEMENT * b and b <= AGREEMENT * a)


def _residual(rows: list[list[Row]]) -> float:
    return float(sum(np.sum(row.r**2) for row in rows[0]))


class _Newton:
    """Newton's method for the coefficients (K, m, M) of the polynomials."""

    def __init__(self, defect: Defect, polynomials: Polynomials):
        self.defect, self.polynomials = defect, polynomials
        family = defect.family
        shape = (len(family.decomposition), len(family.components), len(polynomials.exponents))
        self.coefficients = np.zeros(shape)
        self.loss_terms = loss_terms(defect.problem)
        self.basis = [self._basis(term) for term in self.loss_terms]

    def _basis(self, term: Term) -> list[list[tuple[int, Float[np.ndarray, "M N"]]]]:
        """For each side of each pair: component and polynomials of every channel."""
        x, owners = term.block.sides()
        derivatives = [derivative for _, derivative in term.law.channels]
        found = []
        for k, points in zip(owners, np.asarray(x)):
            values = self.polynomials.basis(k, points, derivatives)
            found.append([(component, values[derivative]) for component, derivative in term.law.channels])
        return found

    def run(self) -> float:
        """Newton steps until the linear model predicts the loss or no step lowers it; how much is left of the squares
        of the residual."""
        rows = self.defect.rows
        loss = self._loss(rows)
        for _ in range(NEWTON_STEPS):
            step, predicted = self._step(rows)
            trials = ((halving, *self._tried(step / 2**halving)) for halving in range(HALVINGS))
            taken = next((trial for trial in trials if trial[3] < loss), None)
            if taken is None:
                break
            before, (halving, self.coefficients, rows, loss) = loss, taken
            if (halving == 0 and loss <= 1.1 * predicted) or before - loss < 0.01 * before:
                break
        return _residual(rows) / (_residual(self.defect.rows) + TINY)

    def _tried(self, step: Float[np.ndarray, "K m M"]) -> tuple[Float[np.ndarray, "K m M"], list[list[Row]], float]:
        """Coefficients after a step, the rows and the loss there."""
        coefficients = self.coefficients + step
        rows = self.defect.linearised(self._channels(coefficients))
        return coefficients, rows, self._loss(rows)

    def _channels(self, coefficients: Float[np.ndarray, "K m M"]) -> list[Float[np.ndarray, "_B2 _C _N"]]:
        found = []
        for term, basis, values in zip(self.loss_terms, self.basis, self.defect.channels):
            owners = term.block.sides()[1]
            more = [[coefficients[k, i] @ part for i, part in channels] for k, channels in zip(owners, basis)]
            found.append(values + np.array(more))
        return found

    def _loss(self, rows: list[list[Row]]) -> float:
        pairs = [(row, term) for term, of_term in zip(self.loss_terms, rows) for row in of_term]
        found = sum(float(np.sum(np.asarray(term.weight) * row.r**2)) for row, term in pairs)
        return found if np.isfinite(found) else np.inf

    def _step(self, rows: list[list[Row]]) -> tuple[Float[np.ndarray, "K m M"], float]:
        """The minimum of the linear model, and the loss there; a step that is not finite if there is none."""
        matrix, right, loss = self._equations(rows)
        scale = 1 / np.sqrt(np.diag(matrix) + 1e-16 * np.max(np.diag(matrix)))
        damped = matrix * scale[:, None] * scale
        damped[np.diag_indices_from(damped)] += RIDGE * len(damped)
        try:
            step = -scale * cho_solve(cho_factor(damped, lower=True), scale * right)
        except (LinAlgError, ValueError):  # singular, or not finite
            return np.full(self.coefficients.shape, np.nan), loss
        full = np.tril(matrix) @ step + np.tril(matrix, -1).T @ step
        return step.reshape(self.coefficients.shape), loss + 2 * right @ step + step @ full

    def _equations(self, rows: list[list[Row]]) -> tuple[np.ndarray, np.ndarray, float]:
        """J^T J (its lower triangle), J^T r and |r|^2."""
        count, size = len(self.coefficients), self.coefficients[0].size
        matrix, right = np.zeros((count, size, count, size)), np.zeros((count, size))
        for term, basis, of_term in zip(self.loss_terms, self.basis, rows):
            for row in of_term:
                for i in range(len(row.r)):
                    root = np.sqrt(np.asarray(term.weight)[i])
                    jacobian = self._jacobian(term.block, basis, row, i, root)
                    for k, by_k in jacobian.items():
                        right[k] += by_k @ (root * row.r[i])
                        for other, by_other in jacobian.items():
                            if other <= k:
                                matrix[k, :, other] += by_k @ by_other.T
        return matrix.reshape(count * size, -1), right.ravel(), self._loss(rows)

    def _jacobian(self, block: Any, basis: Any, row: Row, i: int, root: Any) -> dict[int, Float[np.ndarray, "n N"]]:
        """Derivatives of one weighted row by the coefficients of the boxes on either side."""
        found: dict[int, np.ndarray] = {}
        _, m, size = self.coefficients.shape
        sides = [(block.a[i], row.by_a[i], basis[i])]
        if block.b:
            sides.append((block.b[i], row.by_b[i], basis[len(block.a) + i]))
        for k, slopes, channels in sides:
            part = found.setdefault(k, np.zeros((m, size, len(root))))
            for slope, (component, values) in zip(slopes, channels):
                part[component] += (root * slope) * values
        return {k: part.reshape(m * size, -1) for k, part in found.items()}

    def on(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n m"]:
        """The polynomials at points, averaged where boxes meet."""
        inside = self.defect.family.decomposition.membership(points)
        value = Partial((0,) * points.shape[1])
        total = np.zeros((len(points), self.coefficients.shape[1]))
        for k, mine in enumerate(inside):
            total[mine] += (self.coefficients[k] @ self.polynomials.basis(k, points[mine].T, [value])[value]).T
        return total / inside.sum(axis=0)[:, None]
