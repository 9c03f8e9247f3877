import {
  listCredentialTypes,
  verifyCredentialAsync,
  type CredentialType,
  type VerifiableCredential,
} from "@agent/credentials";
import { canonicalize, hexToDidKey } from "@agent/crypto";
import { limits, refuse, type Answer, type Operations, type Refusal } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { listAgentDids, listIssuerDids } from "./agent-dids.ts";
import { parseCredential, toCredentialRow } from "./credential-row.ts";
import { isRevoked } from "./revocation.ts";
import { findCredential, purgeReplaced, insertCredential, type NewCredential } from "./store.ts";

const GRADIENT_TYPE: CredentialType = "AgentGradientCredential";

type SubmitCredentials = Operations["submitCredentials"];
type SubmissionRefusal = Refusal<SubmitCredentials["refusals"][number]>;

/** The facts that a submitted credential is checked against. */
interface SubmissionContext {
  readonly agentId: string;
  readonly did: string;
  /** All DIDs of the agent: a credential issued by one of them is a statement about itself. */
  readonly ownDids: ReadonlySet<string>;
  /** The issuers whose credentials the caller may submit; undefined means any. */
  readonly callerDids: ReadonlySet<string> | undefined;
}

/**
 * Accepts credentials that others issued about an agent, from the agent or from their issuer. Each is
 * verified; if one is refused, all are. Credentials that are already stored stay unchanged.
 */
export async function submitCredentials(
  services: Pick<Services, "storage" | "runtime" | "log">,
  agentId: string,
  values: readonly object[],
  caller: Caller,
): Promise<Answer<SubmitCredentials>> {
  const { storage, runtime, log } = services;
  const agent = await findAgent(storage.read, agentId);
  if (agent === undefined || agent.public_key === null) return refuse("agent.not_found");
  const submission: SubmissionContext = {
    agentId,
    did: hexToDidKey(agent.public_key),
    ownDids: await listAgentDids(storage.read, agentId),
    callerDids:
      caller.kind === "agent" && !mayActFor(caller, [agentId])
        ? await listIssuerDids(storage.read, caller.agentId)
        : undefined,
  };
  const checked = await Promise.all(
    values.map((value) => checkCredential(services, submission, value)),
  );
  const accepted: NewCredential[] = [];
  for (const [index, result] of checked.entries()) {
    if (!result.ok) return withIndex(index, result);
    accepted.push(result.row);
  }

  const stored = await storage.transaction(async (tx) => {
    const added: NewCredential[] = [];
    for (const [index, row] of accepted.entries()) {
      const result = await storeCredential(tx, row, runtime.now());
      if (!result.ok) return withIndex(index, result);
      if (result.added) added.push(row);
    }
    return { ok: true as const, added };
  });
  if (!stored.ok) return stored;
  for (const { credential_id, type, issuer } of stored.added) {
    log.info("credential.stored", { credential_id, type, issuer, agent_id: agentId });
  }
  const body = {
    agent_id: agentId,
    credential_ids: accepted.map(({ credential_id }) => credential_id),
  };
  return stored.added.length > 0 ? { status: 201, body } : { status: 200, body };
}

type CheckedCredential = { readonly ok: true; readonly row: NewCredential } | SubmissionRefusal;

async function checkCredential(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { agentId, did, ownDids, callerDids }: SubmissionContext,
  value: object,
): Promise<CheckedCredential> {
  if (Buffer.byteLength(JSON.stringify(value)) > limits.credentialBytes) {
    return refuse("credential.too_large");
  }
  const verdict = await verifyCredentialAsync(value, {
    now: runtime.now(),
    isRevoked: (credential) => isRevoked(storage.read, credential),
  });
  if (!verdict.valid) return refuse("credential.invalid", verdict.code);
  const credential = value as VerifiableCredential;
  const [type, ...others] = listCredentialTypes(credential);
  if (type === undefined || others.length > 0) return refuse("credential.type_unknown");
  if (credential.credentialSubject.id !== did) return refuse("credential.wrong_subject");
  if (ownDids.has(credential.issuer) !== mustBeSelfIssued(type)) {
    return refuse("credential.wrong_issuer");
  }
  if (callerDids?.has(credential.issuer) === false) return refuse("credential.not_participant");
  if (credential.id !== undefined && !isUri(credential.id)) {
    return refuse("credential.invalid", "id must be a URI of at most 256 characters");
  }
  return {
    ok: true,
    row: toCredentialRow(credential, { type, agentId, delegatorId: "", taskId: null }),
  };
}

/** Only the agent itself may issue statements about its inner state, and only others about its work. */
function mustBeSelfIssued(type: CredentialType): boolean {
  return type === GRADIENT_TYPE;
}

/** Ids occur in paths and in logs, so their characters are restricted. */
function isUri(id: string): boolean {
  return id.length <= limits.idLength && /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/.test(id);
}

async function storeCredential(
  tx: Tx,
  row: NewCredential,
  now: number,
): Promise<{ readonly ok: true; readonly added: boolean } | SubmissionRefusal> {
  const known = await findCredential(tx, row.credential_id);
  if (known === undefined) {
    await insertCredential(tx, row);
    // Every agent renews it each half hour, and an expired one is useless, so it is not stored.
    if (row.type === GRADIENT_TYPE) await purgeReplaced(tx, { ...row, now });
    return { ok: true, added: true };
  }
  return canonicalize(parseCredential(known)) === canonicalize(parseCredential(row))
    ? { ok: true, added: false }
    : refuse("credential.id_taken");
}

/** Adds the index of the refused credential to the refusal of all. */
function withIndex(index: number, { code, detail }: SubmissionRefusal): SubmissionRefusal {
  const place = `credentials.${index}`;
  return refuse(code, detail === undefined ? place : `${place} ${detail}`);
}
