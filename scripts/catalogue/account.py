# SPDX-License-Identifier: MIT
"""Where the cycles go, as trees: [account.NAME] rows, a whole before its parts."""
from catalogue.formula import Formula
from catalogue.row import NAME, near

# What a line may be: cycles, or a number beside them.
UNITS = ("cycles", "cycles each")


def load_account(name, row, scope, seen):
    if not NAME.fullmatch(name):
        row.bad("the name must be letters, digits, '_', '-' and '.'")
    whole = row.text("of", None)
    if whole is not None and whole not in seen:
        row.bad(f"of = '{whole}': no row before it; "
                f"{near(whole, seen or ['none'])}")
    account = {"name": name, "formula": row.text("formula"),
               "brief": row.text("brief"),
               "unit": row.word("unit", UNITS, UNITS[0]),
               "parent": seen.index(whole) if whole else -1}
    account["ops"] = Formula(row, account["formula"], scope).ops
    row.done()
    return account


def check_order(row, account, accounts):
    """Checks that the whole of a row is the row before it, or a row that the
    row before is a part of."""
    last = len(accounts) - 1
    while last != account["parent"] and last >= 0:
        last = accounts[last]["parent"]
    if last != account["parent"]:
        row.bad("it does not stand with the other parts of its whole")


def load_accounts(rows, scope):
    accounts, seen = [], []
    for name, row in rows.items():
        account = load_account(name, row, scope, seen)
        check_order(row, account, accounts)
        accounts.append(account)
        seen.append(name)
    return accounts
