import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { CredentialRow } from "../storage/tables/credentials.ts";
import { BLOCKED } from "../trust/levels.ts";
import { findTrust } from "../trust/store.ts";
import { issueReputation, issueTrust, type IssuerDependencies } from "./issue.ts";

/**
 * Renews an expired credential of the relay with current figures. Not while
 * issuing is off, and not for a block, which is a delegator's own statement. Returns whether it was renewed.
 */
export async function renewCredential(
  tx: Tx,
  services: IssuerDependencies & Pick<Services, "config">,
  { agent_id, delegator_id }: Pick<CredentialRow, "agent_id" | "delegator_id">,
): Promise<boolean> {
  if (!services.config.identity.issueCredentials) return false;
  if (delegator_id === "") {
    await issueReputation(tx, services, agent_id, null);
    return true;
  }
  const record = await findTrust(tx, delegator_id, agent_id);
  if (record === undefined || record.trust_level === BLOCKED) return false;
  await issueTrust(tx, services, record);
  return true;
}
