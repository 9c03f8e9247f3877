import { peerOperations } from "@agent/federation-protocol/http";
import { operations as clientOperations, witnessOperations, type Operation } from "@agent/wire";

/** The whole HTTP contract of a relay: what it serves to clients, to logs and to other relays. */
export const operations = {
  ...clientOperations,
  ...witnessOperations,
  ...peerOperations,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationName = keyof Operations;
