import type { PeerDebt } from "@agent/federation-protocol/settlement";
import { getClearingBalance } from "../../budget/post-clearing.ts";
import type { Reader } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { getPeerExposure } from "./undecided-store.ts";

/** Reads the debt of a peer and what may be added to it, for every decision that would increase it. */
export async function getPeerDebt(
  read: Reader,
  { relay_id, credit_limit }: Pick<FederationPeerRow, "relay_id" | "credit_limit">,
): Promise<PeerDebt> {
  return {
    balance: await getClearingBalance(read, relay_id),
    limit: credit_limit,
    ...(await getPeerExposure(read, relay_id)),
  };
}
