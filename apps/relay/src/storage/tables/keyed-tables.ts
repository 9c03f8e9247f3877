import type { KeyedTable, TableName } from "../queries/row-form.ts";
import type { Tables } from "../tables.ts";

function keyed<Name extends TableName>(
  name: Name,
  key: readonly (keyof Tables[Name] & string)[],
  columns: readonly (keyof Tables[Name] & string)[],
): KeyedTable {
  return { name, key, columns: [...key, ...columns] };
}

/** The tables whose rows are changed in memory, with the columns that their statements use for decisions. */
export const KEYED_TABLES = {
  accounts: keyed(
    "accounts",
    ["account"],
    ["balance", "held", "pending_withdrawals", "sequence", "card_lots", "last_posted_at"],
  ),
  agents: keyed("agents", ["agent_id"], ["last_seen_at", "unreachable_at", "place"]),
  agent_histories: keyed(
    "agent_histories",
    ["agent_id"],
    [
      "successful_tasks",
      "failed_tasks",
      "latency_total_ms",
      "free_successful_tasks",
      "free_failed_tasks",
      "free_latency_total_ms",
      "fees_kept",
      "first_contact_backing",
      "verified_backing",
      "trusted_backing",
      "fees_paid",
      "fees_used",
    ],
  ),
  idempotency_keys: keyed("idempotency_keys", ["scope", "key"], ["created_at"]),
  key_sharers: keyed("key_sharers", ["agent_id"], ["group_id"]),
  listings: keyed("listings", ["agent_id"], ["listing_id", "body", "updated_at"]),
  ledgers: keyed(
    "ledgers",
    ["agent_id", "goal_id"],
    ["content_hash", "steps_completed", "steps_total"],
  ),
  settled_x402_payments: {
    ...keyed("x402_payments", ["task_id"], ["tx_hash", "requirements"]),
    where: "state = 'settled'",
  },
  task_counters: keyed("task_counters", ["scope"], ["live"]),
  tasks: keyed(
    "tasks",
    ["task_id"],
    [
      "status",
      "expires_at",
      "attempt",
      "assigned_to",
      "agent_id",
      "via_peer",
      "locked",
      "claimed_by",
    ],
  ),
  trust_records: keyed(
    "trust_records",
    ["agent_id", "remote_agent_id"],
    [
      "trust_level",
      "first_seen_at",
      "last_seen_at",
      "interaction_count",
      "successful_tasks",
      "failed_tasks",
      "paid_tasks",
      "fees_kept",
      "avg_latency_ms",
    ],
  ),
};
