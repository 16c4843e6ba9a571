"""The peers that the solver is measured against: eager and compiled PyTorch, plain JAX, and DeepXDE.

They solve the same problems with the same points, networks and weights, written as a user of each library would
write them. Nothing here is imported by the package itself; install the extra `bench` to run it. Import a peer from its
own module, so that measuring one does not load the libraries of the others.
"""
