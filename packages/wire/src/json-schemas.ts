import { toJsonSchema, toJsonSchemaDefs, type ConversionConfig } from "@valibot/to-json-schema";
import { VerifiableCredentialSchema } from "@agent/credentials";
import { LedgerSchema } from "@agent/ledger";
import { ExecutionReceiptSchema } from "@agent/receipts";
import type * as v from "valibot";
import { AgentState, AuditEntry, Goal } from "./agent-state.ts";
import { Approval } from "./approvals.ts";
import { Balance, Settlement, Transaction } from "./budget.ts";
import { Conversation, Message } from "./conversations.ts";
import { CredentialStatus, StoredCredential } from "./credentials.ts";
import { Device } from "./devices.ts";
import { AgentEvent } from "./events.ts";
import { KeyHistory } from "./keys.ts";
import { MarketCandidate } from "./market.ts";
import { Pairing } from "./pairing.ts";
import { Plan } from "./plans.ts";
import { CapabilityPrice, DiscoveryEntry, Listing } from "./registry.ts";
import { RoutingRecord } from "./routing.ts";
import { Statement } from "./statement.ts";
import { RoutingChoice, Task, TaskEvent } from "./tasks.ts";
import { TrustRecord } from "./trust.ts";
import { Visibility } from "./visibility.ts";
import { Withdrawal } from "./withdrawals.ts";

export type JsonObject = { [member: string]: unknown };

/** Schemas that clients meet by name. */
const namedDefinitions = {
  ExecutionReceipt: ExecutionReceiptSchema,
  Task,
  TaskEvent,
  RoutingChoice,
  RoutingRecord,
  Balance,
  Transaction,
  Settlement,
  Statement,
  Withdrawal,
  CapabilityPrice,
  Listing,
  DiscoveryEntry,
  KeyHistory,
  Device,
  Pairing,
  Approval,
  Plan,
  Conversation,
  Message,
  AgentEvent,
  Goal,
  AgentState,
  AuditEntry,
  MarketCandidate,
  Visibility,
  TrustRecord,
  VerifiableCredential: VerifiableCredentialSchema,
  StoredCredential,
  CredentialStatus,
  ExecutionLedger: LedgerSchema,
} as const;

/** Rules that JSON Schema has no word for; the text of the refusal names them. */
const ignoreActions = ["finite", "check", "raw_check", "safe_integer", "max_bytes", "transform"];

const conversion = {
  target: "draft-2020-12",
  // What validation makes of the input; numbers in a query are numbers there.
  typeMode: "output",
  ignoreActions,
  // The only custom schema of the contract is the object that is handed on as it is.
  overrideSchema: ({ valibotSchema }) =>
    valibotSchema.type === "custom" ? { type: "object" } : undefined,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
} satisfies ConversionConfig;

/** A schema of the contract as JSON Schema; those with a name are referred to. */
export function toComponentSchema(schema: v.GenericSchema): JsonObject {
  const converted = toJsonSchema(schema, {
    ...conversion,
    definitions: namedDefinitions,
  }) as JsonObject;
  const { $schema: _schema, $defs: _defs, ...rest } = converted;
  return rest;
}

/** The schemas that have a name, for `#/components/schemas`. */
export function buildNamedSchemas(): JsonObject {
  return toJsonSchemaDefs(namedDefinitions, conversion);
}
