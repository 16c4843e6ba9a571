"""The numbers that the paper prints, to compare ours with."""

FAMILIES = ("poisson", "advection", "reaction", "burgers")

# Table 1: mean relative L2 error
PDES = 100
OFFLINE: dict[str, dict[str, float]] = {
    name: dict(zip(FAMILIES, values))
    for name, values in {
        "Random-Single": (0.3992, 0.07042, 0.00612, 0.04021),
        "Random-Seq": (0.3004, 0.03922, 0.01284, 0.03486),
        "PINN-Sub": (0.03078, 0.00130, 0.00213, 0.00738),
        "PINN-Merge-H": (0.02398, 0.00098, 0.00223, 0.00951),
        "PINN-Merge-V": (0.02184, 0.00079, 0.00099, 0.00276),
        "Single-TS": (0.02503, 0.00079, 0.00204, 0.00109),
        "Single-UCB": (0.0245, 0.00078, 0.00102, 0.00161),
        "Seq-TS": (0.01639, 0.00078, 0.00099, 0.00152),
        "Seq-UCB": (0.01406, 0.00070, 0.00099, 0.00139),
    }.items()
}

# the members of the families whose point-wise errors are shown
POINTWISE = {"poisson": {"s": 46.1}, "advection": {"beta": 24.02}, "reaction": {"rho": 4.1}, "burgers": {"nu": 0.0036}}

# the preliminary study: mean relative L2 error over 10 runs, by model, sampling and lambda_b = lambda_I
SAMPLING: dict[tuple[str, str, float], float] = {
    ("PINN", "random", 1.0): 9.0325e-4,
    ("PINN", "random", 20.0): 4.3223e-4,
    ("PINN", "grid", 1.0): 6.0278e-3,
    ("PINN", "grid", 20.0): 2.3699e-3,
    ("PINN", "poisson", 1.0): 5.3902e-3,
    ("PINN", "poisson", 20.0): 2.2375e-3,
    ("XPINN", "random", 1.0): 5.0884e-3,
    ("XPINN", "random", 20.0): 5.3205e-3,
    ("XPINN", "grid", 1.0): 6.0764e-3,
    ("XPINN", "grid", 20.0): 4.7829e-3,
    ("XPINN", "poisson", 1.0): 6.5061e-3,
    ("XPINN", "poisson", 20.0): 4.4888e-3,
}

# eight sets at unit weights: mean and standard deviation over 10 runs
COMBINATIONS: dict[str, tuple[float, float]] = {
    "PINN": (1.05e-3, 4.38e-4),
    "uavg": (4.28e-3, 2.63e-3),
    "uavg,rc": (3.92e-3, 2.25e-3),
    "uavg,c": (9.45e-4, 2.85e-4),
    "uavg,rc,c": (9.77e-4, 3.45e-4),
    "uavg,rc,gr": (4.57e-3, 3.18e-3),
    "uavg,c,yy": (5.26e-4, 1.97e-4),
    "uavg,rc,gr,c,yy": (9.34e-4, 3.18e-4),
}
