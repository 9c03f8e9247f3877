import type { StoredTaskRow } from "../src/storage/tables/tasks.ts";

/** Builds an unclaimed task that is pending until 1,000 ms after the epoch. */
export function createTaskRow(change: Partial<StoredTaskRow> = {}): StoredTaskRow {
  return {
    task_id: "task",
    agent_id: "target",
    submitted_by: null,
    origin_peer: null,
    assigned_to: null,
    status: "pending",
    prompt: "work",
    required_capabilities: "[]",
    submitted_at: 0,
    expires_at: 1_000,
    wall_clock_ms: null,
    step_id: null,
    routing_choice: null,
    attempts: "[]",
    attempt: 0,
    via_peer: null,
    charge: 0,
    locked: 0,
    allocation_id: null,
    claimed_by: null,
    lease_until: null,
    blamed: 0,
    receipt_hash: null,
    finished_at: null,
    delegation_token: null,
    trace: null,
    events: "[]",
    erased_at: null,
    claimed_at: null,
    worked_at: null,
    cancel_requested_at: null,
    ...change,
  };
}
