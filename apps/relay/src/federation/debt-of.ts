import { asMicro } from "@agent/budget";
import type { PeerDebt } from "@agent/federation-protocol";
import { clearingBalance } from "../budget/clearing.ts";
import type { Reader } from "../storage/storage.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { defaultedBy } from "./inbound-store.ts";

/** Reads what a peer owes and may owe, for every decision about more of it. */
export async function debtOf(
  read: Reader,
  { relay_id, credit_limit }: Pick<FederationPeerRow, "relay_id" | "credit_limit">,
): Promise<PeerDebt> {
  return {
    balance: await clearingBalance(read, relay_id),
    limit: asMicro(credit_limit),
    defaulted: await defaultedBy(read, relay_id),
  };
}
