import { EncodingError, hexToBytes, verifyJson, verifyJsonAsync } from "@agent/crypto";
import type * as v from "valibot";
import { parseMessage } from "../parse-message.ts";
import { type FederationRefusal, refuse } from "../refusals.ts";

type SignedMessage<S extends v.GenericSchema> =
  | { readonly ok: true; readonly message: v.InferOutput<S> }
  | FederationRefusal<"federation.malformed" | "federation.signature_invalid">;

/**
 * Verifies a body's own `signature`, which is over the canonical JSON of all its other members,
 * unknown ones included. Refused: `federation.malformed`, `federation.signature_invalid`.
 */
export function verifySignedMessage<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  publicKey: string,
): SignedMessage<S> {
  const read = parseMessage(schema, value);
  const key = parseKey(publicKey);
  if (!read.ok || (key !== null && verifyJson(value, key))) return read;
  return refuse("federation.signature_invalid");
}

/**
 * Does the same as `verifySignedMessage`, with the signature verified off the event loop where
 * there are threads.
 */
export async function verifySignedMessageAsync<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  publicKey: string,
): Promise<SignedMessage<S>> {
  const read = parseMessage(schema, value);
  const key = parseKey(publicKey);
  if (!read.ok || (key !== null && (await verifyJsonAsync(value, key)))) return read;
  return refuse("federation.signature_invalid");
}

function parseKey(publicKey: string): Uint8Array | null {
  try {
    return hexToBytes(publicKey);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}
