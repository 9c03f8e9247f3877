import { a2aContract } from "./tasks/a2a.ts";
import { approvalsContract } from "./tasks/approvals.ts";
import { budgetContract } from "./money/budget.ts";
import { credentialsContract } from "./agents/credentials.ts";
import { cardsContract } from "./money/cards.ts";
import { clockContract } from "./operator/clock.ts";
import { freezeContract } from "./operator/freeze.ts";
import { devicesContract } from "./agents/devices.ts";
import { federationAdminContract } from "./operator/federation-admin.ts";
import { federationContract } from "./operator/federation.ts";
import { inspectionsContract } from "./tasks/inspections.ts";
import { oversightContract } from "./operator/oversight.ts";
import { sessionsContract } from "./operator/sessions.ts";
import { keysContract } from "./agents/keys.ts";
import { ledgerContract } from "./tasks/ledger.ts";
import { logContract } from "./operator/log.ts";
import { marketContract } from "./agents/market.ts";
import type { Contract } from "./outcome.ts";
import { paymentsContract } from "./money/payments.ts";
import { pairingContract } from "./agents/pairing.ts";
import { receiptsContract } from "./tasks/receipts.ts";
import { recordsContract } from "./tasks/records.ts";
import { registryContract } from "./agents/registry.ts";
import { systemContract } from "./operator/system.ts";
import { tasksContract } from "./tasks/tasks.ts";
import { trustContract } from "./agents/trust.ts";
import { webhooksContract } from "./operator/webhooks.ts";
import { withdrawalsContract } from "./money/withdrawals.ts";
import { witnessContract } from "./operator/witness.ts";
import type { OperationName } from "../../src/operations.ts";

/** A case for every outcome that the operation table declares. */
export const contract: Contract<OperationName> = {
  ...systemContract,
  ...registryContract,
  ...devicesContract,
  ...keysContract,
  ...pairingContract,
  ...approvalsContract,
  ...tasksContract,
  ...inspectionsContract,
  ...budgetContract,
  ...withdrawalsContract,
  ...webhooksContract,
  ...cardsContract,
  ...paymentsContract,
  ...freezeContract,
  ...clockContract,
  ...oversightContract,
  ...sessionsContract,
  ...logContract,
  ...marketContract,
  ...trustContract,
  ...credentialsContract,
  ...ledgerContract,
  ...receiptsContract,
  ...witnessContract,
  ...federationContract,
  ...federationAdminContract,
  ...recordsContract,
  ...a2aContract,
};
