--------------------------- MODULE TwoPhaseCommit ---------------------------
(* Two-phase commit over a channel that loses nothing (Gray and Lamport, Consensus on Transaction Commit): the system of
   examples/two_phase_commit.py a second time, to measure TLC and nbcc's search on the same states. *)
EXTENDS TLC

CONSTANT Managers

VARIABLES tm,     \* "init", "committed" or "aborted"
          told,   \* who the transaction manager knows to be prepared
          sent,   \* what was sent: managers that are prepared, "commit", "abort"
          state   \* of each manager: "working", "prepared", "committed", "aborted"

Init == /\ tm = "init"
        /\ told = {}
        /\ sent = {}
        /\ state = [m \in Managers |-> "working"]

Commits == /\ tm = "init" /\ told = Managers
           /\ tm' = "committed" /\ sent' = sent \union {"commit"}
           /\ UNCHANGED <<told, state>>

Aborts == /\ tm = "init"
          /\ tm' = "aborted" /\ sent' = sent \union {"abort"}
          /\ UNCHANGED <<told, state>>

HearsPrepared(m) == /\ tm = "init" /\ m \in sent
                    /\ told' = told \union {m}
                    /\ UNCHANGED <<tm, sent, state>>

Prepares(m) == /\ state[m] = "working"
               /\ state' = [state EXCEPT ![m] = "prepared"] /\ sent' = sent \union {m}
               /\ UNCHANGED <<tm, told>>

GivesUp(m) == /\ state[m] = "working"
              /\ state' = [state EXCEPT ![m] = "aborted"]
              /\ UNCHANGED <<tm, told, sent>>

Hears(m, word, becomes) == /\ word \in sent
                           /\ state' = [state EXCEPT ![m] = becomes]
                           /\ UNCHANGED <<tm, told, sent>>

Next == \/ Commits \/ Aborts
        \/ \E m \in Managers : \/ HearsPrepared(m) \/ Prepares(m) \/ GivesUp(m)
                               \/ Hears(m, "commit", "committed") \/ Hears(m, "abort", "aborted")

Consistent == \A m, n \in Managers : ~(state[m] = "aborted" /\ state[n] = "committed")

Same == Permutations(Managers)
=============================================================================
