"""The errors a user can cause. Each says what was wrong, what is allowed and what to do."""


class MetalicError(Exception):
    """Base of all errors that METALIC raises on purpose; the command line prints them and exits with 2.

    Example:
        >>> import metalic as mt
        >>> try:
        ...     mt.find_family("poison")
        ... except mt.MetalicError as error:
        ...     print(type(error).__name__, str(error)[:19])
        FamilyError no family 'poison':
    """


class FamilyError(MetalicError):
    """A family of PDEs is unknown, or does not define what it must."""


class ParameterError(MetalicError):
    """A parameter is missing, unknown, not a number, or outside its range."""


class ConditionError(MetalicError):
    """An interface condition is unknown, or a set of conditions cannot be read."""


class GeometryError(MetalicError):
    """A domain, a decomposition or a face is not valid."""


class ScheduleError(MetalicError):
    """A training schedule, an optimizer or a budget is not valid."""


class StartError(MetalicError):
    """A solve cannot start from what it was given: other equations, another domain, weights that are not finite."""


class FileError(MetalicError):
    """A file cannot be read, written, or is not what it should be."""


class ChoiceError(MetalicError):
    """A choice of a study is unknown or has no sensible levels, or there are too many arms."""


class BanditError(MetalicError):
    """A bandit cannot be set up, or was given invalid contexts, arms or rewards."""


class StudyError(MetalicError):
    """A study cannot be set up or continued: settings differ, plays keep failing, workers cannot be reached."""


class LedgerError(StudyError):
    """A ledger cannot be read or written: not a ledger, damaged, newer than this program, locked, disk full."""


class MetalicWarning(UserWarning):
    """Something is probably wrong, but can be continued with: a solution whose check is not good, missing data.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", MetalicWarning)  # "error" stops at a solution that is not good
        ...     warnings.warn("not good", MetalicWarning)
    """


class LibraryError(StudyError):
    """A library cannot be used: of another family, empty, two members with the same parameters."""
