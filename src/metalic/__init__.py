"""METALIC."""
