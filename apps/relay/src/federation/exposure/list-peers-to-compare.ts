import { fromMicro } from "@agent/budget";
import type { Reader } from "../../storage/storage.ts";
import { listPeers } from "../peers/peer-store.ts";
import { getPeerPosition } from "./position-store.ts";

/** A peer with its position in the books of this relay. */
export interface PeerToCompare {
  readonly relay_id: string;
  readonly endpoint_url: string;
  /** The amount that this relay owes the peer, in USD; negative if the peer owes this relay. */
  readonly position: number;
  readonly under_way: boolean;
}

/** Lists the peers whose books may contain more than those of a restored relay. */
export async function listPeersToCompare(read: Reader): Promise<PeerToCompare[]> {
  const peers = await listPeers(read);
  return Promise.all(
    peers.map(async ({ relay_id, endpoint_url }) => {
      const { amount, underWay } = await getPeerPosition(read, relay_id);
      return { relay_id, endpoint_url, position: fromMicro(amount), under_way: underWay };
    }),
  );
}
