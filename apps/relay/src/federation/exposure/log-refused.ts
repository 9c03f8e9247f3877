import { toDollars, type Micro } from "@agent/budget";
import { getRefusedAmount, type InboundTask } from "@agent/federation-protocol/forwarding";
import { isLimitPassed } from "@agent/federation-protocol/settlement";
import type { Tx } from "../../storage/storage.ts";
import type { FederationServices } from "../federation-services.ts";
import { findPeer } from "../peers/peer-store.ts";
import { getPeerExposure } from "./undecided-store.ts";

/** The refused results of a peer whose sum has just exceeded its credit limit, in micro-units. */
export interface ExcessRefusals {
  readonly peerId: string;
  readonly refused: Micro;
  readonly limit: Micro;
}

/** Returns the refused results of a peer if the stored change of a task raised their sum above the limit. */
export async function findExcessRefusals(
  tx: Tx,
  before: InboundTask,
  after: InboundTask,
): Promise<ExcessRefusals | undefined> {
  const added = getRefusedAmount(after) - getRefusedAmount(before);
  if (added <= 0) return undefined;
  const { peerId } = after;
  const peer = await findPeer(tx, peerId);
  if (peer === undefined) return undefined;
  const { refused } = await getPeerExposure(tx, peerId);
  const limit = peer.credit_limit;
  return isLimitPassed({ refused, added, limit }) ? { peerId, refused, limit } : undefined;
}

/** Logs that refused results use up credit of a peer from now on, so that the operator asks it for the reason. */
export function logExcessRefusals(
  { federation }: Pick<FederationServices, "federation">,
  { peerId, refused, limit }: ExcessRefusals,
): void {
  federation.log.warn("federation.result.refused_beyond_credit", {
    relay_id: peerId,
    refused: toDollars(refused),
    credit_limit: toDollars(limit),
  });
}
