"""State checkpoints."""

from __future__ import annotations

from nbcc.model.mechanisms.state_checkpoints import StateCheckpoints

from ..mechanism import AFTER_LISTING, Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("state-checkpoints",
            about="A checkpointer puts the live files as of a settled time; a new process reads them and the commits "
                  "since, instead of all commits.",
            source="docs/contract.md, SAME; RFC-22, Updating Metadata Table",
            engine=("checkpoint_state", "services.state_checkpoints:state_checkpoint",
                    "reads.checkpointed:through_checkpoint", "timeline.checkpointed:CheckpointedCommits",
                    "upkeep:keep_up"),
            hudi_impossible="Hudi's readers begin at no checkpoint of nbcc; hudi-rs reads tables that have them",
            mutants=("state-checkpoint-cut-by-request", "state-checkpoint-holds-pending-write",
                     "state-checkpoint-tail-begins-at-request", "state-checkpoint-survives-restore",
                     "state-checkpoint-forgets-live-logs", "state-checkpoint-forgets-covered-logs",
                     "state-checkpoint-forgets-its-engine", "state-checkpoint-forgets-kept-deletes",
                     "state-checkpoint-drops-replaces"),
            verdicts=("state-checkpoint-by-request", "state-checkpoint-after-restore"), promises=("SAME",),
            trace="92-state-checkpoint", boundary="**State checkpoints**"),
    ),
    rows=(
        # As a reader, it lists twice; then it reads commits, which never change, and puts the checkpoint.
        MappingRow("checkpointer_takes_time", "checkpoint_state", ends_after="list.end timeline", also=AFTER_LISTING,
                   starts=True),
        MappingRow("checkpointer_lists_again", "checkpoint_state", ends_after="list.end timeline", also=AFTER_LISTING),
        MappingRow("checkpointer_puts_checkpoint", "checkpoint_state", raises="Cleaned"),
    ),
    hudi_cannot="Hudi's readers begin at no checkpoint of ours, and Hudi puts none",
    refuses={
        StateCheckpoints(state_checkpoint_tail="requested"): (
            "a read adds the commits that completed after its state checkpoint"
        ),
        StateCheckpoints(state_checkpoint_restored="used"): "a read uses no state checkpoint from before a restore",
    },
)  # fmt: skip
