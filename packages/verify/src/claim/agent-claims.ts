import type { VerifiableCredential, VerifiablePresentation } from "@agent/credentials";
import type { SuccessionRecord } from "@agent/crypto";
import type { Ledger } from "@agent/ledger";
import { delegationChain, type DelegationToken, type ExecutionReceipt } from "@agent/receipts";
import { successionList } from "../recognise.ts";
import type { Claim } from "./claim.ts";
import { isoTime, printable, usd } from "./words.ts";

export function receiptClaim(receipt: ExecutionReceipt): Claim {
  const { agent_id, task_id, relay_task_id = task_id, submitted_at, completed_at } = receipt;
  return {
    statement: `agent ${agent_id} ${DONE[receipt.status]} task ${printable(relay_task_id)}`,
    details: [
      `submitted ${isoTime(submitted_at)}, ended ${isoTime(completed_at)}`,
      "for whom and for how much is not in a receipt",
    ],
    signer: `agent ${agent_id}`,
    key: receipt.public_key ?? null,
  };
}

/** What an executor did with a task, by the status of its receipt. */
export const DONE = {
  completed: "completed",
  failed: "failed at",
  denied: "refused",
} as const satisfies Record<ExecutionReceipt["status"], string>;

export function ledgerClaim(ledger: Ledger): Claim {
  const { agent_id, goal_id, status, started_at, completed_at, steps } = ledger;
  const end = typeof completed_at === "number" ? `, ended ${isoTime(completed_at)}` : "";
  return {
    statement: `goal ${printable(goal_id)} of agent ${agent_id} is ${status}, with ${steps.length} steps`,
    details: [`begun ${isoTime(started_at)}${end}`],
    signer: ledger.signature === undefined ? null : `agent ${agent_id}`,
    key: null,
  };
}

/** A record of an agent's key or of a relay's. */
type Succession = Partial<Pick<SuccessionRecord, "agent_id">> & {
  readonly relay_id?: string;
} & Omit<SuccessionRecord, "agent_id">;

export function successionClaim(value: object): Claim {
  const records = (successionList(value) ?? [value]) as readonly Succession[];
  const [first, last] = [records[0], records.at(-1)];
  const oldKey = first?.old_public_key ?? "";
  const owner =
    first?.relay_id === undefined
      ? `agent ${printable(first?.agent_id ?? "")}`
      : `relay ${printable(first.relay_id)}`;
  return {
    statement: `${owner} moved from key ${printable(oldKey)} to key ${printable(last?.new_public_key ?? "")}`,
    details: [
      `${records.length} hand-overs, the last at ${isoTime(last?.timestamp ?? Number.NaN)}`,
    ],
    signer: "each old and each new key",
    key: oldKey,
  };
}

export function delegationTokenClaim(token: DelegationToken): Claim {
  const { issuer_agent_id, delegate_agent_id, scope, max_budget, not_before, expires_at } = token;
  const spend = max_budget === undefined ? "" : ` and spend up to ${usd(max_budget)}`;
  const root = delegationChain(token)?.at(-1) ?? token;
  return {
    statement: `agent ${issuer_agent_id} lets agent ${delegate_agent_id} use the tools ${printable(scope)}${spend}`,
    details: [`from ${isoTime(not_before)} to ${isoTime(expires_at)}`],
    signer: `agent ${root.issuer_agent_id}`,
    key: root.issuer_public_key,
  };
}

export function credentialClaim(credential: VerifiableCredential): Claim {
  const { issuer, credentialSubject, validFrom, validUntil } = credential;
  const end = validUntil === undefined ? "" : ` to ${printable(validUntil)}`;
  return {
    statement: `${printable(issuer)} states ${typeOf(credential)} of ${printable(credentialSubject.id)}`,
    details: [`valid from ${printable(validFrom)}${end}`],
    signer: "the issuer",
    key: issuer,
  };
}

function typeOf({ type }: VerifiableCredential): string {
  return type
    .filter((each) => each !== "VerifiableCredential")
    .map(printable)
    .join(", ");
}

export function presentationClaim(presentation: VerifiablePresentation): Claim {
  const { holder, verifiableCredential } = presentation;
  return {
    statement: `${printable(holder)} presents ${verifiableCredential.length} credentials`,
    details: [],
    signer: "the holder",
    key: holder,
  };
}
