import { toJsonSchema, toJsonSchemaDefs, type ConversionConfig } from "@valibot/to-json-schema";
import { VerifiableCredentialSchema } from "@agent/credentials";
import { LedgerSchema } from "@agent/ledger";
import { ExecutionReceiptSchema } from "@agent/receipts";
import * as v from "valibot";
import { describeByPath } from "./engine/descriptions/describe-by-path.ts";
import { describeMembers } from "./engine/descriptions/describe-members.ts";
import { signedDocuments } from "./engine/descriptions/signed-documents.ts";
import { AgentState, AuditEntry, Goal } from "./operations/live/agent-state.ts";
import { Approval } from "./operations/tasks/approvals.ts";
import { Balance, Settlement, Transaction } from "./operations/money/budget.ts";
import { Conversation, Message } from "./operations/live/conversations.ts";
import { CredentialStatus, StoredCredential } from "./operations/agents/credentials.ts";
import { Device } from "./operations/agents/devices.ts";
import { AgentEvent } from "./operations/live/events.ts";
import { KeyHistory } from "./operations/agents/keys.ts";
import { MarketCandidate } from "./operations/agents/market.ts";
import { Pairing } from "./operations/agents/pairing.ts";
import { Plan } from "./operations/live/plans.ts";
import { AcceptanceTerms } from "./operations/tasks/acceptance.ts";
import { Inspection } from "./operations/tasks/inspections.ts";
import { CapabilityPrice, Listing } from "./operations/agents/listings.ts";
import { DiscoveryEntry } from "./operations/agents/registry.ts";
import { RoutingRecord } from "./operations/tasks/routing.ts";
import { Statement } from "./operations/money/statement.ts";
import { RoutingChoice, Task, TaskEvent } from "./operations/tasks/task.ts";
import { TrustRecord } from "./operations/agents/trust.ts";
import { Visibility } from "./operations/agents/visibility.ts";
import { Withdrawal } from "./operations/money/withdrawals.ts";

export type JsonObject = { [member: string]: unknown };
export type NamedSchemas = Readonly<Record<string, JsonObject>>;

/** Schemas with a name in `#/components/schemas`. */
const namedDefinitions = {
  ExecutionReceipt: ExecutionReceiptSchema,
  Task,
  TaskEvent,
  RoutingChoice,
  RoutingRecord,
  AcceptanceTerms,
  Inspection,
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

/** Rules that JSON Schema cannot express; the message of the refusal names them. */
const ignoreActions = ["finite", "check", "raw_check", "max_bytes", "transform"];

const conversion = {
  target: "draft-2020-12",
  // The output of validation, so that numbers in a query are described as numbers.
  typeMode: "output",
  ignoreActions,
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    // The only custom schemas of the contract are objects.
    if (valibotSchema.type === "custom") return { type: "object" };
    const { properties } = jsonSchema;
    return properties && { ...jsonSchema, properties: describeMembers(properties) };
  },
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
} satisfies ConversionConfig;

/**
 * Converts schemas of the contract to JSON Schema, with references to named schemas. All of them are converted
 * as one tuple, because each conversion converts all named schemas again.
 */
export function convertSchemas(
  schemas: readonly v.GenericSchema[],
): ReadonlyMap<v.GenericSchema, JsonObject> {
  const unique = [...new Set(schemas)];
  const definitions = namedDefinitions;
  const { prefixItems = [] } = toJsonSchema(v.tuple(unique), { ...conversion, definitions });
  return new Map(unique.map((schema, index) => [schema, prefixItems[index] as JsonObject]));
}

/** Converts one schema; for several, `convertSchemas` is much cheaper. */
export function toComponentSchema(schema: v.GenericSchema): JsonObject {
  return convertSchemas([schema]).get(schema) ?? {};
}

/** Converts all named schemas to JSON Schema, for `#/components/schemas`. */
export function buildNamedSchemas(): NamedSchemas {
  const schemas = Object.entries(toJsonSchemaDefs(namedDefinitions, conversion));
  return Object.fromEntries(
    schemas.map(([name, schema]) => [name, describeByPath(schema, signedDocuments[name] ?? {})]),
  );
}
