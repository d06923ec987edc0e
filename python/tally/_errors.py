# SPDX-License-Identifier: MIT
"""What the package raises."""


class TallyError(Exception):
    """Something cannot be done; the text is one line that says what, where, and what
    would be right.

    code -- the library's error (a negative number of tally/error.h), or 0 where the
            library had no part in it
    """

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


class TallyWarning(UserWarning):
    """Something was done, and is probably not what was meant."""
