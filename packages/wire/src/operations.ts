import { a2a } from "./operations/tasks/a2a.ts";
import { agentState } from "./operations/live/agent-state.ts";
import { allAgents } from "./operations/operator/all-agents.ts";
import { allTasks } from "./operations/operator/all-tasks.ts";
import { approvals } from "./operations/tasks/approvals.ts";
import { budget } from "./operations/money/budget.ts";
import { cards } from "./operations/money/cards.ts";
import { clock } from "./operations/operator/clock.ts";
import { consoleSessions } from "./operations/operator/console-sessions.ts";
import { conversations } from "./operations/live/conversations.ts";
import { credentials } from "./operations/agents/credentials.ts";
import { devices } from "./operations/agents/devices.ts";
import { events } from "./operations/live/events.ts";
import { claims } from "./operations/tasks/claims.ts";
import { evidence } from "./operations/tasks/evidence.ts";
import { federationAdmin } from "./operations/operator/federation-admin.ts";
import { freeze } from "./operations/operator/freeze.ts";
import { holds } from "./operations/operator/holds.ts";
import { ledger } from "./operations/proof/ledger.ts";
import { inspections } from "./operations/tasks/inspections.ts";
import { keys } from "./operations/agents/keys.ts";
import { market } from "./operations/agents/market.ts";
import { log } from "./operations/operator/log.ts";
import type { Operation } from "./engine/operation.ts";
import { operatorAudit } from "./operations/operator/operator-audit.ts";
import { overview } from "./operations/operator/overview.ts";
import { pairing } from "./operations/agents/pairing.ts";
import { payments } from "./operations/money/payments.ts";
import { plans } from "./operations/live/plans.ts";
import { relayEvents } from "./operations/operator/relay-events.ts";
import { receipts } from "./operations/proof/receipts.ts";
import { listings } from "./operations/agents/listings.ts";
import { registry } from "./operations/agents/registry.ts";
import { routing } from "./operations/tasks/routing.ts";
import { series } from "./operations/operator/series.ts";
import { statement } from "./operations/money/statement.ts";
import { system } from "./operations/operator/system.ts";
import { tasks } from "./operations/tasks/tasks.ts";
import { trust } from "./operations/agents/trust.ts";
import { visibility } from "./operations/agents/visibility.ts";
import { webhooks } from "./operations/live/webhooks.ts";
import { withdrawals } from "./operations/money/withdrawals.ts";

/**
 * The HTTP contract between a relay and its clients; that between relays is `peerOperations` of
 * `@agent/federation-protocol/http`. Paths are matched in this order.
 */
export const operations = {
  ...system,
  ...registry,
  ...listings,
  ...visibility,
  ...devices,
  ...keys,
  ...pairing,
  ...approvals,
  ...tasks,
  ...claims,
  ...evidence,
  ...inspections,
  ...routing,
  ...budget,
  ...withdrawals,
  ...cards,
  ...payments,
  ...webhooks,
  ...statement,
  ...overview,
  ...series,
  ...allTasks,
  ...allAgents,
  ...holds,
  ...relayEvents,
  ...operatorAudit,
  ...consoleSessions,
  ...freeze,
  ...clock,
  ...log,
  ...market,
  ...trust,
  ...credentials,
  ...ledger,
  ...federationAdmin,
  ...receipts,
  ...plans,
  ...conversations,
  ...events,
  ...agentState,
  ...a2a,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationName = keyof Operations;
