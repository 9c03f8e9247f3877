import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { BLOCKED } from "../trust/levels.ts";
import { findTrust } from "../trust/store.ts";
import { issueReputation, issueTrust, type Issuer } from "./issue.ts";
import type { NewCredential } from "./store.ts";

/**
 * Says anew, with the figures of today, what the relay said in a credential that has run out. Not while
 * the relay issues none, and not of a block: that is a delegator's own word.
 */
export async function renew(
  tx: Tx,
  services: Issuer & Pick<Services, "config">,
  { agent_id, delegator_id }: Pick<NewCredential, "agent_id" | "delegator_id">,
): Promise<NewCredential | undefined> {
  if (!services.config.identity.issueCredentials) return undefined;
  if (delegator_id === "") return issueReputation(tx, services, agent_id, null);
  const record = await findTrust(tx, delegator_id, agent_id);
  return record === undefined || record.trust_level === BLOCKED
    ? undefined
    : issueTrust(tx, services, record);
}
