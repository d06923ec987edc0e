# SPDX-License-Identifier: MIT
"""What an event costs in cycles: [cost.EVENT] rows."""
from catalogue.row import near

MOST = 1e6


def read_share(row, key):
    value = row.get(key, (int, float), "a number of cycles", None)
    if value is None:
        row.bad(f"'{key}' is missing: a number of cycles")
    if not 0 <= value <= MOST:
        row.bad(f"{key} = {value}: must be a number from 0 to {MOST:.0f}")
    return float(value)


def load_costs(rows, machine):
    events = {e["name"]: i for i, e in enumerate(machine["events"])}
    params = [key for key, *_ in machine["params"]]
    costs = []
    for name, row in rows.items():
        if name not in events:
            row.bad(f"unknown event; {near(name, events)}")
        per = row.text("per", None)
        if per is not None and per not in params:
            row.bad(f"per = '{per}': no parameter of the machine; "
                    f"{near(per, params or ['none'])}")
        cost = {"event": events[name], "per": per,
                "source": row.text("source"), "assumed": row.flag("assumed")}
        for key in ("minimum", "typical", "maximum"):
            cost[key] = read_share(row, key)
        if not cost["minimum"] <= cost["typical"] <= cost["maximum"]:
            row.bad("minimum, typical and maximum must not fall")
        row.done()
        costs.append(cost)
    return sorted(costs, key=lambda c: c["event"])
