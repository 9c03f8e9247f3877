import { expect, test } from "vitest";
import { readWorkspace } from "./workspace.ts";

const COLLECTION = /new (?:(?:Map|Set)(?:<(?:[^;=]|=>)*?>)?\(\)|(?:BoundedMap|ReplayCache)\b)/g;

/**
 * The files of the relay that create empty collections, with their number and the reason why each process may
 * have its own. State that processes must share is stored in rows instead (docs/scale-out.md).
 */
const ALLOWED: Readonly<Record<string, readonly [collections: number, reason: string]>> = {
  "src/a2a/shown-offers.ts": [2, "of a relay with one process; several share rows"],
  "src/admin/books/account-checks.ts": [1, "of one call"],
  "src/admin/books/account-store.ts": [1, "of one call"],
  "src/admin/books/scan-pages.ts": [1, "of one call"],
  "src/admin/job-monitor.ts": [1, "the runs of this process's jobs"],
  "src/agents/keys/key-proof-store.ts": [1, "of one call"],
  "src/budget/accounts/card-lots.ts": [2, "of one call"],
  "src/console/assets.ts": [1, "files of the build"],
  "src/delivery/create-router.ts": [1, "work of this process that is in flight"],
  "src/delivery/endpoints/endpoint-backoff.ts": [
    1,
    "endpoints that failed: each process probes for itself",
  ],
  "src/delivery/endpoints/open-calls.ts": [
    1,
    "calls of this process; a cancel reaches it as the change `cancel`",
  ],
  "src/federation/create-federation.ts": [
    6,
    "caches of other relays, per process; what must agree is in rows where there are several processes",
  ],
  "src/federation/discovery/query-peers.ts": [1, "of one call"],
  "src/federation/discovery/remote-agents.ts": [
    2,
    "what peers said of agents: a cache, per process",
  ],
  "src/federation/peering/pending-peers.ts": [1, "of a relay with one process; several share rows"],
  "src/federation/federation-work.ts": [1, "deliveries of this process that are in flight"],
  "src/feed/fold-minutes.ts": [2, "of one call"],
  "src/http/egress/resolve-name.ts": [
    2,
    "questions of this process, and the hosts file as it reads it",
  ],
  "src/http/limits/connection-guard.ts": [1, "connections of this process"],
  "src/http/limits/rate-limit.ts": [1, "limits are per process, as docs/scale-out.md says"],
  "src/http/limits/sliding-window.ts": [1, "limits are per process, as docs/scale-out.md says"],
  "src/http/server/graceful-close.ts": [1, "connections of this process"],
  "src/http/server/idempotency.ts": [
    1,
    "requests that run here; another process meets the key in the database",
  ],
  "src/http/server/mount-operations.ts": [1, "the operations of the contract"],
  "src/identity/tokens.ts": [
    2,
    "verified tokens, and the agents whose tokens ended lately, by the change `tokens`",
  ],
  "src/inspections/acceptance/offer-filter.ts": [1, "of one call"],
  "src/inspections/count-changes.ts": [1, "of one call"],
  "src/jobs.ts": [2, "the runs of this process's jobs"],
  "src/log/entries/list-settled-tasks.ts": [1, "of one call"],
  "src/log/entries/list-uncovered-entries.ts": [1, "of one call"],
  "src/pairing/failed-code-tracker.ts": [1, "of a relay with one process; several share rows"],
  "src/processes/presences.ts": [3, "devices elsewhere, read again by the change `presence`"],
  "src/processes/tail-changes.ts": [1, "changes that this process has handled"],
  "src/realtime/connections.ts": [3, "sockets of this process"],
  "src/realtime/session.ts": [5, "tasks that one socket was sent"],
  "src/records/allocate-steps.ts": [1, "of one call"],
  "src/routing/candidates/asker-records.ts": [2, "of one call"],
  "src/routing/candidates/collect-candidates.ts": [1, "of one call"],
  "src/routing/candidates/kept-candidates.ts": [
    5,
    "agents ready to rank, read again by the change `agents`",
  ],
  "src/routing/kept-routes.ts": [
    1,
    "routes of the trust graph of this process, found anew when it changes",
  ],
  "src/routing/trust-graph.ts": [
    3,
    "levels for rankings, read again by the change `trust`; a claim asks the database",
  ],
  "src/sessions/console-sessions.ts": [
    1,
    "what ends the streams of this process, told by the change `session`",
  ],
  "src/storage/postgres/reading/batched-reads.ts": [
    2,
    "reads of one turn; the texts of statements",
  ],
  "src/storage/postgres/hint-channel.ts": [1, "hints that wait to be sent; any may be lost"],
  "src/storage/postgres/noted-changes.ts": [1, "changes of one batch"],
  "src/storage/postgres/prepared-statement.ts": [1, "the texts of statements"],
  "src/storage/postgres/together/loaded-rows.ts": [7, "rows of one batch"],
  "src/storage/postgres/together/row-layer.ts": [5, "rows of one batch"],
  "src/storage/postgres/together/run-together.ts": [1, "of one batch"],
  "src/storage/postgres/together/write-rows.ts": [3, "of one batch; the types of columns"],
  "src/storage/writing/agent-changes.ts": [2, "changes of one batch"],
  "src/storage/writing/batch-rows.ts": [6, "rows of one batch, and prepared statements"],
  "src/tasks/reading/stream-slots.ts": [1, "streams of this process; the limit is per process"],
  "src/tasks/receipts/list-nested-tasks.ts": [1, "of one call"],
  "src/tasks/waiters.ts": [2, "requests of this process, woken by its looks at their tasks"],
  "src/webhooks/subscriptions.ts": [2, "webhooks, read again by the change `webhooks`"],
  "src/webhooks/webhook-lanes.ts": [2, "deliveries of this process that are in flight"],
  "src/witness/log-witnesses.ts": [3, "questions to witnesses, which the leader asks"],
};

// Read outside the test, because a busy machine needs longer for it than a test may last.
const relay = readWorkspace().find(({ name }) => name === "@agent/relay");

test("each collection that the relay keeps in memory is one that may differ between its processes", () => {
  const found = (relay?.sources ?? [])
    .filter(({ isTest }) => !isTest)
    .map(({ path, code }) => [path, code.match(COLLECTION)?.length ?? 0] as const)
    .filter(([, count]) => count > 0);
  const allowed = Object.entries(ALLOWED).map(([path, [count]]) => [path, count] as const);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(allowed));
});
