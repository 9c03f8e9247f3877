import type { PeerPin } from "./peer-key.ts";
import type { Proposal } from "../messages/handshake.ts";

/** A relay's description of itself in a handshake. */
export interface RelayDescription {
  readonly relayId: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  readonly endpointUrl: string;
  readonly displayName: string;
  /** Members of `FEDERATION_FEATURES`; trusted only in a message that is signed as a whole. */
  readonly features?: readonly string[];
  /** The steps that led to `publicKey` since the first contact; never sent in a handshake. */
  readonly succession?: PeerPin["succession"];
}

type DescriptionMessage = Pick<
  Proposal,
  "relay_id" | "public_key" | "endpoint_url" | "display_name" | "features"
>;

export function toDescriptionMessage({
  relayId,
  publicKey,
  endpointUrl,
  displayName,
  features,
}: RelayDescription) {
  return {
    relay_id: relayId,
    public_key: publicKey,
    endpoint_url: endpointUrl,
    display_name: displayName,
    ...(features !== undefined && { features: [...features] }),
  } satisfies DescriptionMessage;
}

export function parseDescription(message: DescriptionMessage): RelayDescription {
  return {
    relayId: message.relay_id,
    publicKey: message.public_key,
    endpointUrl: message.endpoint_url,
    displayName: message.display_name,
    ...(message.features !== undefined && { features: message.features }),
  };
}
