"""Explains a diagnostic: what it means, how it may come about, with a run of a weaker protocol, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from nbcc.engine.config.hudi_options import ANY, NAMES, OF_TABLE, ValueRule, option_of
from nbcc.engine.config.maintenance import ALIASES, INLINE
from nbcc.engine.config.options import OPTIONS
from nbcc.engine.data_source.options import ELSEWHERE, OF_WRITE, READ
from nbcc.engine.data_source.stream_options import STREAM
from nbcc.model.protocol import choices

from ..lockstep.explain import Explanation
from ..lockstep.explain import explain as explain_name
from ..search.options import known_options
from .diagnostics import RULES, Rule, filled

HUDI: Final = "hoodie."
MISSPELT: Final = (0.88, 0.95)
"""The similarity of a name to an option from which it is taken for a typing error: of an unknown name, and of one with
a known prefix.
"""


class Cause(NamedTuple):
    """How a fault may come about. `protocol` is a protocol of the model whose weakness is the cause; ''
    if there is none. Nothing checks that its run leaves this very fault on a table.
    """

    comes_about: str
    protocol: str = ""


_COPY: Final = "a copy or an upload stopped, a disk failed, or a tool edited the file"

CAUSES: Final[Mapping[str, Cause]] = {
    "properties-without-checksum": Cause("an old writer or an editor left the checksum out"),
    "version-contradicts-layout": Cause("a writer of an older release wrote to the table, or the version was edited"),
    "properties-contradict": Cause("the properties were edited, or two releases wrote them"),
    "metadata-table-active": Cause("Hudi's metadata table was on when nbcc began to write", "metadata-after-data"),
    "unreadable": Cause(_COPY),
    "name-and-content": Cause("a tool renamed a timeline file"),
    "undone-and-completed": Cause(
        "a writer stalled, its heartbeat expired, another process rolled it back, and it published nevertheless",
        "commit-unchecked",
    ),
    "writer-gone": Cause("a writer died, or the completed file of its instant was removed", "archive-past-pending"),
    "marks-disagree": Cause(
        "another engine ran a service on a table of nbcc, or dropped nbcc's properties",
        "foreign-compaction-unseen",
    ),
    "plan-missing": Cause("the plan of a pending compaction was removed"),
    "no-time": Cause("a tool named a timeline file"),
    "future-instant": Cause("the clock of a writer is ahead", "local-clocks"),
    "equal-times": Cause("two writers took their times without one lock, or in whole seconds", "colliding-seconds"),
    "completed-before-requested": Cause("two clocks that differ gave the two times of one instant", "local-clocks"),
    "completed-twice": Cause("two processes completed one instant", "plan-checked-early"),
    "committed-log-lost": Cause(
        "a compaction was planned while a write was in flight, and no slice got the log",
        "requested-time-slicing",
    ),
    "base-file-over-logs": Cause(
        "a bulk insert put base files into file groups that had logs",
        "bulk-insert-unchecked",
    ),
    "log-in-two-slices": Cause(
        "a plan took a log that completed after it, or that another plan had taken",
        "completion-outside-lock",
    ),
    "compaction-left-logs-out": Cause("a compaction merged other logs than its plan lists, or the plan was changed"),
    "plan-from-old-base": Cause("a base file appeared after the planner had listed the files", "bulk-insert-unchecked"),
    "plan-cannot-run": Cause(
        "a clean deleted the inputs of a pending plan, or they were removed",
        "clean-behind-pending-plan",
    ),
    "replaced-in-part": Cause("an overwriter put base files only into the file groups that got new rows"),
    "written-after-replace": Cause("a write went to a file group that a replace hides", "replaced-file-ids"),
    "hidden-by-a-pending-log": Cause(
        "the first write of a file group is pending while later ones completed",
        "pending-first",
    ),
    "timeline-lost": Cause("the folder of the timeline was removed or not copied"),
    "listed-file-missing": Cause(
        "a clean deleted a file that a retained read needs, or a person or a rule of the store removed it",
        "clean-by-requested-time",
    ),
    "listed-file-size": Cause(_COPY),
    "data-file-broken": Cause(_COPY),
    "listed-file-foreign": Cause("a commit has the content of another"),
    "orphan-file": Cause(
        "a write failed and left its file, or the timeline files of its instant were removed",
        "archived-by-absence",
    ),
    "unlisted-file": Cause("a task that was given up wrote its file after the commit", "metadata-not-reconciled"),
    "foreign-file": Cause("a program wrote or copied a Parquet file into the folder of the table"),
    "bucket-with-two-groups": Cause("two writers used different indexes or bucket counts", "minted-file-ids"),
    "bucket-out-of-range": Cause("a writer used another number of buckets", "own-bucket-count"),
    "partition-metadata-missing": Cause("the folder was made by a copy"),
    "stray-base-file": Cause("a writer that has not committed put a base file into a file group that is in use"),
}  # fmt: skip
"""How the fault of each rule may come about."""


def explain(name: str) -> tuple[Explanation, ...]:
    """Return the explanation of a diagnostic, or of another name of the model. Raises ValueError if nothing has the
    name.
    """
    asked = name.strip().casefold()
    for rule in RULES:
        if rule.name == asked:
            return (_diagnostic(rule),)
    if asked.startswith(HUDI):
        return (_option(asked),)
    try:
        return explain_name(name)
    except ValueError:
        if (option := _option_with(asked)) is not None:
            return explain_name(option)
        if (of_format := _option_of_the_format(asked)) is not None:
            return (of_format,)
        raise


def _option_of_the_format(name: str) -> Explanation | None:
    """Explain an option of `format("nbcc")` without Hudi's prefix, such as as.of.instant, or another format's name of
    one. Return None if there is no such option.
    """
    kind, source = "option of a data source", "docs/options.md"
    for option in (*READ, *OF_WRITE, *STREAM):
        if option.casefold() == name:
            return Explanation(option, kind, 'format("nbcc") uses it', source)
    return Explanation(name, kind, ELSEWHERE[name], source) if name in ELSEWHERE else None


def _option_with(value: str) -> str | None:
    """Return the option of protocols that alone has this value, such as single_writer; None if none or several do."""
    options = [option for option, values in choices().items() if value in values]
    return options[0] if len(options) == 1 else None


def _option(name: str) -> Explanation:
    """Explain an option of Apache Hudi: what nbcc does with its values. Raises ValueError for a misspelt option."""
    source, kind = "docs/hudi-options.md, docs/options.md", "option of Hudi"
    arguments = {option: argument for argument, names in OF_TABLE.items() for option in names}
    needed = {option.name: option.needed for option in (*OPTIONS, *INLINE)}
    if name in arguments:
        return Explanation(name, kind, f"nbcc uses it as the argument {arguments[name]} of Table.create", source)
    if (current := ALIASES.get(name, name)) in needed:
        return Explanation(name, kind, f"nbcc uses it, with {needed[current]} as its value", source)
    of_format = [each for each in (*READ, *OF_WRITE) if each.startswith(HUDI)]
    if name in of_format:
        return Explanation(name, kind, "the data source uses it", "docs/options.md")
    option = option_of(name)
    of_hudi = known_options()
    known, similarity = [*arguments, *needed, *ALIASES, *of_format, *NAMES, *of_hudi], MISSPELT[option is not None]
    near = get_close_matches(name, known, 1, similarity)
    if near and name not in (*NAMES, *of_hudi):
        raise ValueError(f"no option of Hudi that nbcc knows is called {name!r}; did you mean {near[0]}")
    if option is None:
        knows = "Apache Hudi has it" if name in of_hudi else "nbcc does not know it"
        return Explanation(name, kind, f"{knows}; nbcc ignores it, with a line in the log", source)
    rest = "all values" if len(option.rules) == 1 else "all other values"
    lines = [f"{', '.join(rule.values).replace(ANY, rest)}: {_done(rule)}" for rule in option.rules]
    return Explanation(name, kind, "nbcc reads it by its meaning, value by value", source, tuple(lines))


def _done(rule: ValueRule) -> str:
    if rule.refuses:
        return f"refused, because {rule.why}; {rule.remedy}"
    return f"ignored, {rule.notice}" if rule.notice else "accepted"


def _general(remedy: str) -> str:
    """Return a remedy as it applies to any table."""
    return filled(remedy, table="TABLE", instant="T", files="FILE", count="N")


def _diagnostic(rule: Rule) -> Explanation:
    cause = CAUSES[rule.name]
    stated = [*map(_general, rule.remedies)]
    remedies = [one for one in stated if not any(other.startswith(f"{one}, or ") for other in stated)]
    more = (
        f"may break: {', '.join((*rule.promises, *rule.also))}",
        f"how it may come about: {cause.comes_about}",
        f"what to do: {remedies[0]}",
        *(f"or: {remedy}" for remedy in remedies[1:]),
    )
    about, source = f"{rule.about}; nbcc validate reports it", "docs/damage.md, what readers then return"
    if not cause.protocol:
        return Explanation(rule.name, "diagnostic", about, source, (*more, "no protocol of the model is named for it"))
    [known] = explain_name(cause.protocol)
    shows = f"A run under the protocol {cause.protocol}, which has this weakness:"
    return Explanation(rule.name, "diagnostic", about, source, more, shows, known.run)
