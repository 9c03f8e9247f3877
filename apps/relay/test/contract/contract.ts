import type { OperationName } from "@agent/wire";
import { a2aContract } from "./a2a.ts";
import { approvalsContract } from "./approvals.ts";
import { budgetContract } from "./budget.ts";
import { credentialsContract } from "./credentials.ts";
import { cardsContract } from "./cards.ts";
import { clockContract } from "./clock.ts";
import { freezeContract } from "./freeze.ts";
import { devicesContract } from "./devices.ts";
import { federationAdminContract } from "./federation-admin.ts";
import { federationContract } from "./federation.ts";
import { keysContract } from "./keys.ts";
import { ledgerContract } from "./ledger.ts";
import { marketContract } from "./market.ts";
import type { Contract } from "./outcome.ts";
import { paymentsContract } from "./payments.ts";
import { pairingContract } from "./pairing.ts";
import { receiptsContract } from "./receipts.ts";
import { recordsContract } from "./records.ts";
import { registryContract } from "./registry.ts";
import { systemContract } from "./system.ts";
import { tasksContract } from "./tasks.ts";
import { trustContract } from "./trust.ts";
import { webhooksContract } from "./webhooks.ts";
import { withdrawalsContract } from "./withdrawals.ts";

/** How every outcome that the operation table declares is brought about. */
export const contract: Contract<OperationName> = {
  ...systemContract,
  ...registryContract,
  ...devicesContract,
  ...keysContract,
  ...pairingContract,
  ...approvalsContract,
  ...tasksContract,
  ...budgetContract,
  ...withdrawalsContract,
  ...webhooksContract,
  ...cardsContract,
  ...paymentsContract,
  ...freezeContract,
  ...clockContract,
  ...marketContract,
  ...trustContract,
  ...credentialsContract,
  ...ledgerContract,
  ...receiptsContract,
  ...federationContract,
  ...federationAdminContract,
  ...recordsContract,
  ...a2aContract,
};
