import type { VerifiableCredential, VerifiablePresentation } from "@agent/credentials";
import type { SuccessionRecord } from "@agent/crypto";
import type { Ledger } from "@agent/ledger";
import { parseDelegationChain, type DelegationToken, type ExecutionReceipt } from "@agent/receipts";
import { getSuccessionRecords } from "../detect-kind.ts";
import { listNamedKeys, type NamedKeys } from "../keys/named-keys.ts";
import type { Claim } from "./claim.ts";
import { formatCount, formatDollars, formatTime, toPrintable } from "./format.ts";

export function describeReceipt(receipt: ExecutionReceipt): Claim {
  const { agent_id, task_id, relay_task_id = task_id, submitted_at, completed_at } = receipt;
  return {
    statement: `agent ${agent_id} ${statusVerbs[receipt.status]} task ${toPrintable(relay_task_id)}`,
    details: [
      `submitted ${formatTime(submitted_at)}, ended ${formatTime(completed_at)}`,
      "for whom and for how much is not in a receipt",
    ],
    signer: `agent ${agent_id}`,
    key: receipt.public_key ?? null,
  };
}

/** The executor's action on a task, by the status of its receipt. */
export const statusVerbs = {
  completed: "completed",
  failed: "failed at",
  denied: "refused",
} as const satisfies Record<ExecutionReceipt["status"], string>;

export function describeLedger(ledger: Ledger): Claim {
  const { agent_id, goal_id, status, started_at, completed_at, steps, timeline } = ledger;
  const end = typeof completed_at === "number" ? `, ended ${formatTime(completed_at)}` : "";
  const [first, last] = [timeline[0], timeline.at(-1)];
  return {
    statement: `a timeline of ${formatCount(timeline.length, "event")}${formatGoal(timeline)}`,
    details: [
      ...(first === undefined || last === undefined
        ? []
        : [`from ${formatTime(first.timestamp)} to ${formatTime(last.timestamp)}`]),
      `states, unsigned: goal ${toPrintable(goal_id)} of agent ${agent_id} is ${status}, with ${formatCount(steps.length, "step")}, begun ${formatTime(started_at)}${end}`,
      ...formatSubcontractors(ledger),
    ],
    // Only the timeline is signed, and it names no agent.
    signer: ledger.signature === undefined ? null : "its author",
    key: null,
  };
}

const MAX_LISTED = 10;

/** Lists the receipts of others that a ledger names. This list is unsigned: anyone can change it. */
function formatSubcontractors({ delegation_receipts: receipts = [] }: Ledger): readonly string[] {
  if (receipts.length === 0) return [];
  const listed = receipts
    .slice(0, MAX_LISTED)
    .map(({ task_id, agent_id }) => `${toPrintable(task_id)} of agent ${toPrintable(agent_id)}`);
  const more = receipts.length > MAX_LISTED ? ` and ${receipts.length - MAX_LISTED} more` : "";
  return [`states, unsigned: receipts of others, which are not in it: ${listed.join(", ")}${more}`];
}

/** Formats the signed timeline's statement about the goal. */
function formatGoal(timeline: Ledger["timeline"]): string {
  const goal = timeline.find((event) => event.type === "goal_started")?.payload.goal_id;
  const end = timeline.findLast((event) => event.type === "goal_completed")?.payload;
  const name = goal === undefined ? "" : ` of goal ${toPrintable(goal)}`;
  return end === undefined ? name : `${name}, ended as ${end.status ?? "completed"}`;
}

/** A succession record of an agent or a relay. */
type Succession = Partial<Pick<SuccessionRecord, "agent_id">> & {
  readonly relay_id?: string;
} & Omit<SuccessionRecord, "agent_id">;

export function describeSuccession(value: object, named: NamedKeys = []): Claim {
  const records = (getSuccessionRecords(value) ?? [value]) as readonly Succession[];
  const [first, last] = [records[0], records.at(-1)];
  const oldKey = first?.old_public_key ?? "";
  const owner =
    first?.relay_id === undefined
      ? `agent ${toPrintable(first?.agent_id ?? "")}`
      : `relay ${toPrintable(first.relay_id)}`;
  return {
    statement: `${owner} moved from key ${toPrintable(oldKey)} to key ${toPrintable(last?.new_public_key ?? "")}`,
    details: [
      `${formatCount(records.length, "change of key", "changes of key")}, the last at ${formatTime(last?.timestamp ?? Number.NaN)}`,
    ],
    signer: "each old and each new key",
    key: findNamedKey(records, named) ?? oldKey,
  };
}

/** Returns the first key of a chain that the caller named. */
function findNamedKey(records: readonly Succession[], named: NamedKeys): string | undefined {
  const keys = new Set(listNamedKeys(named).map(({ publicKey }) => publicKey));
  return records
    .flatMap(({ old_public_key, new_public_key }) => [old_public_key, new_public_key])
    .find((key) => keys.has(key));
}

export function describeDelegationToken(token: DelegationToken): Claim {
  const { issuer_agent_id, delegate_agent_id, scope, max_budget, not_before, expires_at } = token;
  const spend = max_budget === undefined ? "" : ` and spend up to ${formatDollars(max_budget)}`;
  const root = parseDelegationChain(token)?.at(-1) ?? token;
  return {
    statement: `agent ${issuer_agent_id} lets agent ${delegate_agent_id} use the tools ${toPrintable(scope)}${spend}`,
    details: [`from ${formatTime(not_before)} to ${formatTime(expires_at)}`],
    signer: `agent ${root.issuer_agent_id}`,
    key: root.issuer_public_key,
  };
}

export function describeCredential(credential: VerifiableCredential): Claim {
  const { issuer, credentialSubject, validFrom, validUntil } = credential;
  const end = validUntil === undefined ? "" : ` to ${toPrintable(validUntil)}`;
  return {
    statement: `${toPrintable(issuer)} states ${formatTypes(credential)} of ${toPrintable(credentialSubject.id)}`,
    details: [`valid from ${toPrintable(validFrom)}${end}`],
    signer: "the issuer",
    key: issuer,
  };
}

function formatTypes({ type }: VerifiableCredential): string {
  return type
    .filter((each) => each !== "VerifiableCredential")
    .map(toPrintable)
    .join(", ");
}

export function describePresentation(presentation: VerifiablePresentation): Claim {
  const { holder, verifiableCredential, proof } = presentation;
  const audience = proof.domain === undefined ? "no named audience" : toPrintable(proof.domain);
  return {
    statement: `${toPrintable(holder)} presents ${formatCount(verifiableCredential.length, "credential")} to ${audience}`,
    details: verifiableCredential.map((credential) => formatPresented(credential, holder)),
    signer: "the holder",
    key: holder,
  };
}

/** A credential may be about a subject other than its holder, who then borrows that subject's reputation. */
function formatPresented(credential: VerifiableCredential, holder: string): string {
  const { issuer, credentialSubject } = credential;
  const subject: unknown = credentialSubject.id;
  const relation = subject === holder ? "" : ", who is not the holder";
  return `${toPrintable(issuer)} states ${formatTypes(credential)} of ${toPrintable(subject)}${relation}`;
}
