"""How much of each part a load needs, and which limit is the first.

Usage: scaling.py [--NAME VALUE ..], for instance --deliveries 1000. Without any:
the three loads of docs/scaling.md. It is arithmetic on the template's defaults
and on AWS's published quotas, and no measurement: change what you know better.
"""

import argparse
import dataclasses
import math
import pathlib

# Of the code: shared/core/src/ports/store.rs.
INDEX_SHARDS = 8
# Write units of a new event of up to 1 KB: payload, event, its index entry.
KEPT_UNITS = 3
# The event's and action's share of claim and completion, and the index entry.
CLAIMED_UNITS = {"events": 4, "actions": 3, "resources": 2}
DUPLICATE_UNITS = 4
# An event enters the index once and leaves it once.
INDEX_WRITES = 2

# Of AWS, us-east-1, as published in 2026. "Asked for" is raised on request.
QUOTAS = {
    "API requests (1/s)": (10_000, "asked for: API Gateway's throttle of the account"),
    "function instances at once": (1_000, "asked for: Lambda's concurrency of the account"),
    "new instances in 10 s": (1_000, "fixed: how fast one function grows"),
    "batches at once": (1_000, "fixed: MaximumConcurrency of one queue"),
    "messages in flight": (120_000, "fixed: one standard queue"),
    "events table (units/s)": (40_000, "asked for: one table's on-demand quota"),
    "actions table (units/s)": (40_000, "asked for: one table's on-demand quota"),
    "resources table (units/s)": (40_000, "asked for: one table's on-demand quota"),
    "one shard of the index (units/s)": (1_000, "fixed: one partition; INDEX_SHARDS in the code"),
}


@dataclasses.dataclass(frozen=True)
class Load:
    """What arrives, and how long things take."""

    deliveries: float
    duplicates: float = 0.10
    effects: float = 0.50
    payload_kb: float = 2.0
    ack_ms: float = 25.0
    call_ms: float = 200.0
    batch: int = 10
    log_bytes: float = 2000.0
    burst: float = 3.0

    @property
    def events(self):
        """New events in a second."""
        return self.deliveries * (1 - self.duplicates)


def needs(load):
    """What the load needs of each part, at its burst."""
    at_burst = dataclasses.replace(load, deliveries=load.deliveries * load.burst)
    duplicates = at_burst.deliveries * load.duplicates
    kept = KEPT_UNITS - 1 + math.ceil(load.payload_kb)
    events = at_burst.events * (kept + CLAIMED_UNITS["events"]) + duplicates * DUPLICATE_UNITS
    effects = at_burst.events * load.effects
    # Records of a batch run side by side: one call makes all of them wait.
    with_a_call = 1 - (1 - load.effects) ** load.batch
    batches = at_burst.events / load.batch * (load.call_ms * with_a_call + 50) / 1000
    answering = at_burst.deliveries * load.ack_ms / 1000
    return {
        "API requests (1/s)": at_burst.deliveries,
        "function instances at once": answering + batches,
        "new instances in 10 s": answering,
        "batches at once": batches,
        "messages in flight": batches * load.batch,
        "events table (units/s)": events,
        "actions table (units/s)": effects * CLAIMED_UNITS["actions"],
        "resources table (units/s)": at_burst.events * CLAIMED_UNITS["resources"],
        "one shard of the index (units/s)": at_burst.events * INDEX_WRITES / INDEX_SHARDS,
    }


def first_limit(load):
    """The part that is full first, and the deliveries per second at which."""
    per_delivery = needs(dataclasses.replace(load, deliveries=1.0))
    return min((quota / per_delivery[part], part) for part, (quota, _) in QUOTAS.items())


def table(load):
    """The table that is printed."""
    lines = [
        f"{load.deliveries:,.0f} deliveries a second, {load.burst:g} times that at a burst: "
        f"{load.duplicates:.0%} duplicates, {load.effects:.0%} with an effect, {load.payload_kb:g} KB",
        f"  {'':34} {'needed':>10} {'quota':>10}",
    ]
    for part, needed in needs(load).items():
        quota, about = QUOTAS[part]
        mark = f"  over: {about}" if needed > quota else ""
        lines.append(f"  {part:34} {needed:10,.0f} {quota:10,}{mark}")
    log = load.deliveries * load.log_bytes * 86_400 / 1e9
    lines.append(f"  {'log lines (GB a day)':34} {log:10,.1f}")
    at, part = first_limit(load)
    lines.append(f"  full first: {part}, at {at:,.0f} deliveries a second")
    return "\n".join(lines)


def rows():
    """The rows of docs/scaling.md: the part, and what three loads need of it."""
    document = pathlib.Path(__file__).resolve().parent.parent / "docs/scaling.md"
    cells = [[cell.strip() for cell in line.split("|")] for line in document.read_text().splitlines()]
    numbers = [row for row in cells if len(row) == 7 and row[2].replace(",", "").replace(".", "").isdigit()]
    return {row[1]: row[2:5] for row in numbers}


def check():
    """Says of itself what must hold; run by `make check-infra`."""
    written = list(rows().values())[: len(QUOTAS)]
    computed = [
        [f"{needs(Load(deliveries))[part]:,.0f}" for deliveries in (10, 1_000, 50_000)] for part in QUOTAS
    ]
    assert written == computed, f"docs/scaling.md says {written}, the arithmetic {computed}"
    small, large = needs(Load(10)), needs(Load(1_000))
    assert all(large[part] >= small[part] for part in small)
    assert set(small) == set(QUOTAS)
    assert all(needed < QUOTAS[part][0] for part, needed in small.items()), "ten a second need no request to AWS"
    at, part = first_limit(Load(1))
    over = needs(Load(at * 1.01))
    under = needs(Load(at * 0.99))
    assert over[part] > QUOTAS[part][0] and all(under[name] <= QUOTAS[name][0] for name in under)
    assert needs(Load(1, duplicates=1.0))["batches at once"] == 0


def main():
    """Reads the arguments and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="check the arithmetic itself")
    for field in dataclasses.fields(Load):
        kind = int if field.name == "batch" else float
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, dest=field.name)
    given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    if given.pop("check"):
        check()
        return
    loads = [given.pop("deliveries")] if "deliveries" in given else [10, 1_000, 50_000]
    print("\n\n".join(table(Load(deliveries=load, **given)) for load in loads))


if __name__ == "__main__":
    main()
