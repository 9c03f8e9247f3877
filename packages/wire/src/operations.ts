import { a2a } from "./a2a.ts";
import { agentState } from "./agent-state.ts";
import { approvals } from "./approvals.ts";
import { budget } from "./budget.ts";
import { cards } from "./cards.ts";
import { clock } from "./clock.ts";
import { conversations } from "./conversations.ts";
import { credentials } from "./credentials.ts";
import { devices } from "./devices.ts";
import { events } from "./events.ts";
import { claims } from "./claims.ts";
import { evidence } from "./evidence.ts";
import { federationAdmin } from "./federation-admin.ts";
import { federation } from "./federation.ts";
import { freeze } from "./freeze.ts";
import { ledger } from "./ledger.ts";
import { keys } from "./keys.ts";
import { market } from "./market.ts";
import type { Operation } from "./operation.ts";
import { pairing } from "./pairing.ts";
import { payments } from "./payments.ts";
import { plans } from "./plans.ts";
import { receipts } from "./receipts.ts";
import { registry } from "./registry.ts";
import { routing } from "./routing.ts";
import { statement } from "./statement.ts";
import { system } from "./system.ts";
import { tasks } from "./tasks.ts";
import { trust } from "./trust.ts";
import { visibility } from "./visibility.ts";
import { webhooks } from "./webhooks.ts";
import { withdrawals } from "./withdrawals.ts";

/** The whole HTTP contract of a relay. The order is the order in which paths are matched. */
export const operations = {
  ...system,
  ...registry,
  ...visibility,
  ...devices,
  ...keys,
  ...pairing,
  ...approvals,
  ...tasks,
  ...claims,
  ...evidence,
  ...routing,
  ...budget,
  ...withdrawals,
  ...cards,
  ...payments,
  ...webhooks,
  ...statement,
  ...freeze,
  ...clock,
  ...market,
  ...trust,
  ...credentials,
  ...ledger,
  ...federation,
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
