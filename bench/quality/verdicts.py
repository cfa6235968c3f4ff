"""The table that a bench prints: one row a workload, each held to a bar."""
import sys


class Table:
    def __init__(self, bench: str, ours: str, theirs: str, theirs_is_figure: bool):
        self.bench, self.rows, self.met = bench, [], True
        self.head = f"\n| workload | {ours} | {theirs} | bar | verdict |\n|---|--:|---{':' if theirs_is_figure else ''}|--:|---|"

    def add(self, what: str, ours: str, theirs: str, bar: str, met: bool | None) -> None:
        """`met`: None where there is no bar."""
        self.met &= met is not False
        verdict = "(information)" if met is None else "met" if met else "**missed**"
        self.rows.append(f"| {what} | {ours} | {theirs} | {bar} | {verdict} |")
        print(f"bench/{self.bench}: {what}: {ours} | {theirs} | {bar} | {verdict}", file=sys.stderr)

    def print(self) -> None:
        print(self.head)
        print("\n".join(self.rows))
