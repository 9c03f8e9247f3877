import type { FederationCode, FederationRefusal } from "@agent/federation-protocol";
import { refuse, type Refusal } from "@agent/wire";

/** What a peer may be told of; a malformed message does not come this far. */
type WireCode<C extends FederationCode> = Exclude<C, "federation.malformed">;

/** A refusal of the protocol as one of the contract. */
export function toWireRefusal<C extends FederationCode>({
  code,
  detail,
}: FederationRefusal<C>): Refusal<WireCode<C>> {
  // The contract's schemas are the protocol's own, and they were held before.
  if (code === "federation.malformed") throw new Error(`a message was malformed: ${detail}`);
  return refuse(code as WireCode<C>, detail);
}
