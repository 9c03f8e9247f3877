import type { Tx } from "../../storage/storage.ts";
import type { KeyProofRow } from "../../storage/tables/agents.ts";
import { linkPayers } from "../../trust/backing/link-payers.ts";
import { findKeyProof, saveKeyProof } from "./key-proof-store.ts";

/**
 * Saves the id under which a key is proven. An agent that proves a key which was proven under another id
 * holds the secret keys of both: as payers the two count as one.
 */
export async function saveProvenKey(tx: Tx, proof: KeyProofRow): Promise<void> {
  await linkToProver(tx, proof);
  await saveKeyProof(tx, proof);
}

/** Makes an agent that has signed with a key count as one with the agent that has proven the key. */
export async function linkToProver(
  tx: Tx,
  { public_key, agent_id }: Pick<KeyProofRow, "public_key" | "agent_id">,
): Promise<void> {
  const prover = (await findKeyProof(tx, public_key))?.agent_id;
  if (prover !== undefined && prover !== agent_id) await linkPayers(tx, prover, agent_id);
}
