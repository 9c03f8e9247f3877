import type { VerifiableCredential, VerifiablePresentation } from "@agent/credentials";
import type { SuccessionRecord } from "@agent/crypto";
import type { Ledger } from "@agent/ledger";
import { parseDelegationChain, type DelegationToken, type ExecutionReceipt } from "@agent/receipts";
import { getSuccessionRecords } from "../detect-kind.ts";
import type { Claim } from "./claim.ts";
import { formatTime, toPrintable, formatDollars } from "./format.ts";

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
  const { agent_id, goal_id, status, started_at, completed_at, steps } = ledger;
  const end = typeof completed_at === "number" ? `, ended ${formatTime(completed_at)}` : "";
  return {
    statement: `goal ${toPrintable(goal_id)} of agent ${agent_id} is ${status}, with ${steps.length} steps`,
    details: [`begun ${formatTime(started_at)}${end}`],
    signer: ledger.signature === undefined ? null : `agent ${agent_id}`,
    key: null,
  };
}

/** A succession record of an agent or a relay. */
type Succession = Partial<Pick<SuccessionRecord, "agent_id">> & {
  readonly relay_id?: string;
} & Omit<SuccessionRecord, "agent_id">;

export function describeSuccession(value: object): Claim {
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
      `${records.length} hand-overs, the last at ${formatTime(last?.timestamp ?? Number.NaN)}`,
    ],
    signer: "each old and each new key",
    key: oldKey,
  };
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
  const { holder, verifiableCredential } = presentation;
  return {
    statement: `${toPrintable(holder)} presents ${verifiableCredential.length} credentials`,
    details: [],
    signer: "the holder",
    key: holder,
  };
}
