"""Lines of code in `src`, without blank lines, comments and docstrings, per package and per feature since 0.1.0.

python experiments/code_size.py [--root src/metalic]

A feature counts the modules that do nothing else; what it needs in other modules is not counted.
"""

import argparse
import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

FEATURES = {
    "starts, libraries, sweeps, marches, checkpoints": (
        "pinn/start.py pinn/checkpoint.py pinn/limits.py pinn/refinement.py study/continuation.py study/equations.py "
        "study/interpolation.py study/library.py study/members.py study/networks.py study/packing.py study/sweeping.py "
        "study/warm.py study/waves.py study/pictures.py pinn/slabs.py pinn/adaptive.py marching.py "
        "cli/commands/prepare.py cli/commands/sweep.py cli/commands/march.py"
    ),
    "a live dashboard": "dashboard/*.py cli/commands/dashboard.py evaluation/curves.py evaluation/standing.py",
    "values, derivatives, integrals and sensitivities of a solution; export": (
        "pinn/reader.py pinn/export.py pinn/sensitivity.py pinn/quadrature.py pinn/trained.py "
        "pinn/activations.py families/tabulated.py cli/commands/export.py"
    ),
    "choices, and plays in pairs": (
        "choices.py pinn/chosen.py bandit/compared.py bandit/differences.py bandit/regression.py bandit/trend.py "
        "evaluation/gains.py study/opening.py"
    ),
    "a verdict on every solution": (
        "pinn/check.py pinn/correction.py pinn/defect.py pinn/judgement.py pinn/linearised.py pinn/polynomials.py "
        "conditions/complete.py study/rewards/estimate.py"
    ),
    "regions, own figures, `doctor`, compiling ahead": (
        "geometry/region.py families/regions.py evaluation/pictures.py cli/commands/doctor.py pinn/optimizers/ahead.py"
    ),
    "four small families": "families/layer.py families/turning.py families/oscillator.py families/materials.py",
    "bars in notebooks, trackers": "progress.py tracking.py",
    "the protocol `authors`, and the paper's claims": "study/protocol.py reproduction/claims.py",
}


def docstring_lines(source: str) -> set[int]:
    """The lines of the docstrings of a module, its classes and its functions."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def code_lines(source: str) -> int:
    """The number of lines that hold a token which is neither a comment nor part of a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(source))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path("src/metalic"))
    root = parser.parse_args().root
    sizes: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).parts
        sizes[inside[0] if len(inside) > 1 else "."] += code_lines(path.read_text())
    for package, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{package:14} {size:6,d}")
    print(f"{'total':14} {sizes.total():6,d}")
    for feature, patterns in FEATURES.items():
        files = [path for pattern in patterns.split() for path in root.glob(pattern)]
        print(f"{sum(code_lines(path.read_text()) for path in files):6,d}  {feature}")


if __name__ == "__main__":
    main()
