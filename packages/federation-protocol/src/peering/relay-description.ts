import type { PeerPin } from "./peer-key.ts";
import type { Proposal } from "../messages/handshake.ts";

/** What a relay tells of itself in a handshake. */
export interface RelayDescription {
  readonly relayId: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  readonly endpointUrl: string;
  readonly displayName: string;
  /** Words of `FEDERATION_FEATURES`; believed only of a message that is signed as a whole. */
  readonly features?: readonly string[];
  /** The steps that led to `publicKey` since the relay was first met; never sent in a handshake. */
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
