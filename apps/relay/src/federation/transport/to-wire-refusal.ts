import type { FederationCode, FederationRefusal } from "@agent/federation-protocol";
import { refuse, type Refusal } from "@agent/wire";

/** The codes that a peer may receive; a malformed message is refused earlier. */
type WireCode<C extends FederationCode> = Exclude<C, "federation.malformed">;

/** Converts a refusal of the protocol to one of the contract. */
export function toWireRefusal<C extends FederationCode>({
  code,
  detail,
}: FederationRefusal<C>): Refusal<WireCode<C>> {
  // The contract's schemas are the protocol's own, and were applied before.
  if (code === "federation.malformed") throw new Error(`malformed message: ${detail}`);
  return refuse(code as WireCode<C>, detail);
}
