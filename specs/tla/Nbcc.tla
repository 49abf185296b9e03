-------------------------------- MODULE Nbcc --------------------------------
(* Non-blocking concurrency control of Apache Hudi (RFC-66): the core of nbcc's model, written a second time, from the
   RFC and the promises. Writers put log files of their own; compactors plan, write base files and publish; anybody may
   crash between two steps. Readers go by what is published, so they have no state here.

   A file group holds the logs of all writers. An instant has a requested time and, once published, a completion time,
   both from one clock. The two implementations are held together by their sizes (distinct and generated states, depth)
   and verdicts: tests/interop/test_tla.py. *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Writers, Compactors,
          Groups,          \* a number: file groups are 1..Groups
          Writes,          \* how often each writer writes
          Compactions,     \* how many plans are made at most
          Crashes,         \* how many actors die at most
          SliceBy,         \* "completion": RFC-66. "requested": a log goes where its write began
          TimeTaken,       \* "under_lock": with publishing, under one lock. "outside_lock": before the lock is taken
          PlanTakes,       \* "completed": what completed before the barrier. "any": whatever files are there
          Scheduling,      \* "non_serial": beside writers. "serial": only while nobody writes
          PlanCheck,       \* "under_lock": a compactor checks that its plan is pending as it takes the lock.
                           \* "before_lock": in a step of its own before it publishes
          LocksExpire,     \* whether the lock of a dead holder is free again one day
          Fault            \* "none", or a mistake that is made in nbcc's model as well

VARIABLES clock, lock, published, plans, writer, compactor, crashes,
          withoutFiles     \* compactors whose base files another compactor of their plan has deleted
vars == <<clock, lock, published, plans, writer, compactor, crashes, withoutFiles>>

None == "none"
NoTime == 0
Infinite == 1000000

IdleWriter(n) == [step |-> "idle", number |-> n, requested |-> NoTime, completed |-> NoTime, files |-> 0,
                  inflight |-> FALSE, dead |-> FALSE]
IdleCompactor == [step |-> "idle", plan |-> NoTime, groups |-> {}, bases |-> 0, completed |-> NoTime, dead |-> FALSE]

Init == /\ clock = 0
        /\ lock = None
        /\ published = <<>>
        /\ plans = <<>>
        /\ writer = [w \in Writers |-> IdleWriter(0)]
        /\ compactor = [c \in Compactors |-> IdleCompactor]
        /\ crashes = 0
        /\ withoutFiles = {}

-----------------------------------------------------------------------------
(* What is on storage. *)

Entries == {published[i] : i \in 1..Len(published)}
DoneWrites == {e \in Entries : e.kind = "write"}
DonePlans == {e.requested : e \in {e \in Entries : e.kind = "compaction"}}
Plans == {plans[i] : i \in 1..Len(plans)}
WorksOn(plan, g) == g \in DOMAIN plan.parts

(* Files that lie in a group although their write is not published; a pending write completes later than anything. *)
PendingIn(g) == {[requested |-> writer[w].requested, completed |-> Infinite] :
                    w \in {w \in Writers : writer[w].files >= g}}

(* RFC-66, new file slicing: a log belongs to the greatest barrier at or before its slice time. 0: to none of them. *)
SliceTime(log) == IF SliceBy = "completion" THEN log.completed ELSE log.requested
Barriers(g) == {p.requested : p \in {p \in Plans : WorksOn(p, g)}}
Greatest(times) == IF times = {} THEN 0 ELSE CHOOSE t \in times : \A other \in times : other <= t
BarrierOf(log, g) == Greatest({b \in Barriers(g) : b <= SliceTime(log)})

-----------------------------------------------------------------------------
(* RFC-66, non-serial compaction plan schedule: in each group without a pending plan the newest base file and the logs
   of its slice that completed before the new barrier. *)

Visible(g) == {[requested |-> e.requested, completed |-> e.completed] : e \in DoneWrites}
                  \union (IF PlanTakes = "any" THEN PendingIn(g) ELSE {})
Base(g) == Greatest(Barriers(g))
Older(log, logs) == {other \in logs : other.completed < log.completed}
Known(g) == IF Fault = "planner_misses_one" /\ Cardinality(Visible(g)) > 2
            THEN {log \in Visible(g) : Cardinality(Older(log, Visible(g))) # 1}
            ELSE Visible(g)
Eligible(g, barrier) == {log \in Known(g) : BarrierOf(log, g) = Base(g) /\ (PlanTakes = "any" \/ log.completed < barrier)}
Inputs(g, barrier) == LET logs == Eligible(g, barrier)
                          newest == {log \in logs : Older(log, logs) = logs \ {log}}
                      IN {log.requested : log \in IF Fault = "plan_takes_newest" THEN newest ELSE logs}
Free(g) == Barriers(g) \subseteq DonePlans
Parts(barrier) == LET some == {g \in 1..Groups : Free(g) /\ Inputs(g, barrier) # {}}
                  IN [g \in some |-> [base |-> Base(g), logs |-> Inputs(g, barrier)]]

-----------------------------------------------------------------------------
(* Writers. Their guards look at nobody else's data. *)

Step(w, from, to) == writer[w].step = from /\ writer' = [writer EXCEPT ![w] = to]

RequestInstant(w) ==
    /\ lock = None
    /\ writer[w].number < Writes
    /\ Step(w, "idle", [IdleWriter(writer[w].number + 1) EXCEPT !.step = "requested", !.requested = clock + 1])
    /\ clock' = clock + 1
    /\ UNCHANGED <<lock, published, plans, compactor, crashes, withoutFiles>>

StartWriting(w) ==
    /\ Step(w, "requested", [writer[w] EXCEPT !.step = "writing", !.inflight = TRUE])
    /\ UNCHANGED <<clock, lock, published, plans, compactor, crashes, withoutFiles>>

WriteLog(w) ==
    /\ Step(w, "writing", [writer[w] EXCEPT !.files = @ + 1,
                                            !.step = IF writer[w].files + 1 = Groups THEN "written" ELSE "writing"])
    /\ UNCHANGED <<clock, lock, published, plans, compactor, crashes, withoutFiles>>

-----------------------------------------------------------------------------
(* Compactors. *)

NobodyWrites == \A w \in Writers : writer[w].requested = NoTime

SchedulePlan(c) ==
    LET parts == Parts(clock + 1) IN
    /\ compactor[c].step = "idle"
    /\ lock = None
    /\ Len(plans) < Compactions
    /\ DOMAIN parts # {}
    /\ Scheduling = "serial" => NobodyWrites
    /\ plans' = Append(plans, [requested |-> clock + 1, runner |-> c, inflight |-> FALSE, parts |-> parts])
    /\ compactor' = [compactor EXCEPT ![c] = [IdleCompactor EXCEPT
                        !.step = "scheduled", !.plan = clock + 1, !.groups = DOMAIN parts]]
    /\ clock' = clock + 1
    /\ UNCHANGED <<lock, published, writer, crashes, withoutFiles>>

Run(c, i) == /\ plans' = [plans EXCEPT ![i].runner = c, ![i].inflight = TRUE]
             /\ compactor' = [compactor EXCEPT ![c] = [IdleCompactor EXCEPT
                                 !.step = "running", !.plan = plans[i].requested, !.groups = DOMAIN plans[i].parts]]
             /\ withoutFiles' = withoutFiles \ {c}
             /\ UNCHANGED <<clock, lock, published, writer, crashes>>

(* Two live compactors may run one plan. The first that publishes completes it. *)
Done(c) == Fault # "plan_completed_twice" /\ compactor[c].plan \in DonePlans

StartPlan(c) ==
    /\ compactor[c].step = "scheduled"
    /\ ~Done(c)
    /\ \E i \in 1..Len(plans) : plans[i].requested = compactor[c].plan /\ Run(c, i)

(* All runners of a plan write the same rows. An idle compactor takes up the oldest pending plan. No actor can
   distinguish a slow runner from a dead one, so the state of the plan's runner does not matter. *)
Pending(i) == plans[i].requested \notin DonePlans

ResumePlan(c) ==
    /\ Fault # "plan_of_the_dead_stays"
    /\ compactor[c].step = "idle"
    /\ \E i \in 1..Len(plans) : Pending(i) /\ (\A j \in 1..(i - 1) : ~Pending(j)) /\ Run(c, i)

WriteBase(c) ==
    /\ compactor[c].step = "running"
    /\ LET all == compactor[c].bases + 1 = Cardinality(compactor[c].groups) IN
       compactor' = [compactor EXCEPT ![c].bases = @ + 1, ![c].step = IF all THEN "written" ELSE "running"]
    /\ UNCHANGED <<clock, lock, published, plans, writer, crashes, withoutFiles>>

-----------------------------------------------------------------------------
(* Publishing, the same for both: completion time and completed instant under one lock, in two steps, because readers
   hold no lock. *)

State(a) == IF a \in Writers THEN writer[a] ELSE compactor[a]
Becomes(a, state) == IF a \in Writers
                     THEN writer' = [writer EXCEPT ![a] = state] /\ UNCHANGED compactor
                     ELSE compactor' = [compactor EXCEPT ![a] = state] /\ UNCHANGED writer

Ready == IF TimeTaken = "under_lock" THEN "timed" ELSE "locked"

ChecksEarly == PlanCheck = "before_lock" /\ Cardinality(Compactors) > 1
Begins(a) == IF a \in Compactors /\ ChecksEarly THEN "checked" ELSE "written"
TakesLockAt(a) == IF TimeTaken = "under_lock" THEN Begins(a) ELSE "timed"

CheckPlan(c) ==
    /\ ChecksEarly
    /\ compactor[c].step = "written"
    /\ ~Done(c)
    /\ compactor' = [compactor EXCEPT ![c].step = "checked"]
    /\ UNCHANGED <<clock, lock, published, plans, writer, crashes, withoutFiles>>

TakeLock(a) ==
    /\ State(a).step = TakesLockAt(a)
    /\ lock = None
    /\ a \in Compactors /\ ~ChecksEarly => ~Done(a)
    /\ lock' = a
    /\ Becomes(a, [State(a) EXCEPT !.step = "locked"])
    /\ UNCHANGED <<clock, published, plans, crashes, withoutFiles>>

(* In its first step under the lock, a compactor that has base files deletes those of the other runners of its plan.
   No action depends on the files of the dead. Without crashes the compactor completes the plan before another runner
   can observe that its files are missing. *)
Rivals(a) == {c \in Compactors \ {a} : ~compactor[c].dead /\ compactor[c].plan = compactor[a].plan
                                                       /\ compactor[c].bases > 0}
Commit(a) == /\ a \notin withoutFiles
             /\ withoutFiles' = IF a \in Compactors /\ Crashes > 0 THEN withoutFiles \union Rivals(a) ELSE withoutFiles

TakeCompletionTime(a) ==
    /\ State(a).step = IF TimeTaken = "under_lock" THEN "locked" ELSE Begins(a)
    /\ IF TimeTaken = "under_lock" THEN lock = a /\ Commit(a) ELSE UNCHANGED withoutFiles
    /\ Becomes(a, [State(a) EXCEPT !.step = "timed",
                                   !.completed = IF Fault = "time_not_new" THEN clock ELSE clock + 1])
    /\ clock' = IF Fault = "time_not_new" THEN clock ELSE clock + 1
    /\ UNCHANGED <<lock, published, plans, crashes>>

Instant(a) == IF a \in Writers
              THEN [kind |-> "write", requested |-> writer[a].requested, completed |-> writer[a].completed, actor |-> a]
              ELSE [kind |-> "compaction", requested |-> compactor[a].plan, completed |-> compactor[a].completed,
                    actor |-> a]

Publish(a) ==
    /\ State(a).step = Ready
    /\ lock = a
    /\ IF TimeTaken = "under_lock" THEN UNCHANGED withoutFiles ELSE Commit(a)
    /\ lock' = IF Fault = "lock_kept" THEN a ELSE None
    /\ published' = Append(published, Instant(a))
    /\ Becomes(a, IF a \in Writers THEN IdleWriter(writer[a].number) ELSE IdleCompactor)
    /\ UNCHANGED <<clock, plans, crashes>>

(* A compactor that loses ends its operation without an instant. *)
GiveUp(c) == /\ compactor' = [compactor EXCEPT ![c] = IdleCompactor]
             /\ withoutFiles' = withoutFiles \ {c}
             /\ UNCHANGED <<clock, published, plans, writer, crashes>>

FindItDone(c) ==
    /\ compactor[c].step \in {"scheduled", IF ChecksEarly THEN "written" ELSE TakesLockAt(c)}
    /\ Done(c)
    /\ compactor[c].step # "scheduled" /\ ~ChecksEarly => lock = None
    /\ GiveUp(c)
    /\ UNCHANGED lock

MissFiles(c) ==
    /\ compactor[c].step = "locked"
    /\ lock = c
    /\ c \in withoutFiles
    /\ GiveUp(c)
    /\ lock' = None

-----------------------------------------------------------------------------
(* Crashes, and the lock of the dead. *)

Crash(a) ==
    /\ State(a).step \notin {"idle", "dead"}
    /\ crashes < Crashes
    /\ crashes' = crashes + 1
    /\ Becomes(a, [State(a) EXCEPT !.step = "dead", !.dead = TRUE])
    /\ UNCHANGED <<clock, lock, published, plans, withoutFiles>>

LockExpires(a) ==
    /\ LocksExpire
    /\ Fault = "lock_of_dead_compactor_stays" => a \in Writers
    /\ State(a).dead
    /\ lock = a
    /\ lock' = None
    /\ UNCHANGED <<clock, published, plans, writer, compactor, crashes, withoutFiles>>

Next == \/ \E w \in Writers : RequestInstant(w) \/ StartWriting(w) \/ WriteLog(w)
        \/ \E c \in Compactors : SchedulePlan(c) \/ StartPlan(c) \/ ResumePlan(c) \/ WriteBase(c)
                                   \/ CheckPlan(c) \/ FindItDone(c) \/ MissFiles(c)
        \/ \E a \in Writers \union Compactors :
              TakeLock(a) \/ TakeCompletionTime(a) \/ Publish(a) \/ Crash(a) \/ LockExpires(a)

-----------------------------------------------------------------------------
(* Promises. *)

(* MONO: times are pairwise distinct, requested before completed, published in the order of completion. *)
MONO ==
    /\ \A i \in 1..Len(published) : published[i].requested < published[i].completed
    /\ \A i, j \in 1..Len(published) : i < j =>
          /\ published[i].completed < published[j].completed
          /\ published[i].requested # published[j].requested
          /\ published[i].requested # published[j].completed
          /\ published[i].completed # published[j].requested
    /\ \A p \in Plans : p.requested \notin DonePlans =>
          \A e \in Entries : p.requested \notin {e.requested, e.completed}

(* What the base file of a plan holds, once it is there: its own logs and those of the base file it was made of. *)
RECURSIVE Content(_, _)
Content(barrier, g) ==
    IF barrier = 0 THEN {}
    ELSE LET plan == CHOOSE p \in Plans : p.requested = barrier
         IN plan.parts[g].logs \union Content(plan.parts[g].base, g)

(* PART: readers and the planner agree which logs lie before a barrier. *)
Before(barrier, g) == {e.requested : e \in {e \in DoneWrites : BarrierOf(e, g) < barrier}}
PART == \A g \in 1..Groups, p \in Plans : WorksOn(p, g) =>
            Content(p.requested, g) \intersect {e.requested : e \in DoneWrites} = Before(p.requested, g)

(* LAWS: a base file groups writes that are contiguous in completion order, and nothing that has not completed. *)
LAWS == \A g \in 1..Groups, p \in Plans : WorksOn(p, g) =>
            LET held == Content(p.requested, g) IN
            /\ held \subseteq {e.requested : e \in DoneWrites}
            /\ \A early, late \in DoneWrites :
                  early.completed < late.completed /\ late.requested \in held => early.requested \in held

(* SNAP, as far as files go: the snapshot holds the logs of the completed writes, all of them and no others. A reader
   merges the newest base file and the logs of its slice and of later ones. *)
Newest(g) == Greatest(Barriers(g) \intersect DonePlans)
Shown(g) == Content(Newest(g), g) \union {e.requested : e \in {e \in DoneWrites : BarrierOf(e, g) >= Newest(g)}}
SNAP == \A g \in 1..Groups : Shown(g) = {e.requested : e \in DoneWrites}

(* PROGRESS, where nothing can happen any more: nobody alive is in the midst of something, and no plan is left pending
   that a living compactor could complete. *)
Stuck == ~ENABLED Next
PROGRESS == Stuck =>
    /\ \A a \in Writers \union Compactors : State(a).step \in {"idle", "dead"}
    /\ (\E c \in Compactors : ~compactor[c].dead) => {p.requested : p \in Plans} \subseteq DonePlans
=============================================================================
