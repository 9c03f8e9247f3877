import { hexToBytes, unlessMalformed, verifyJson, verifyJsonAsync } from "@agent/crypto";
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

/** A message as parsed by its schema, with the JSON value it was parsed from. */
export interface ReceivedMessage<M> {
  readonly message: M;
  /** The signature is over all members of this value, unknown ones included. */
  readonly raw: unknown;
}

/**
 * Verifies the `signature` of a message that its schema has parsed, off the event loop where there are
 * threads. Refused: `federation.signature_invalid`.
 */
export async function verifySignedMessageAsync(
  { raw }: ReceivedMessage<{ readonly signature: string }>,
  publicKey: string,
): Promise<{ readonly ok: true } | FederationRefusal<"federation.signature_invalid">> {
  const key = parseKey(publicKey);
  const isSigned = key !== null && (await verifyJsonAsync(raw, key));
  return isSigned ? { ok: true } : refuse("federation.signature_invalid");
}

function parseKey(publicKey: string): Uint8Array | null {
  return unlessMalformed(() => hexToBytes(publicKey)) ?? null;
}
