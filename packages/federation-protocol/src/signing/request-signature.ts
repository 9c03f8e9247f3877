import {
  canonicalize,
  fromBase64Url,
  hexToBytes,
  isUuid,
  sign,
  toBase64Url,
  unlessMalformed,
  verify,
  verifyAsync,
} from "@agent/crypto";
import { FEDERATION_HEADERS } from "@agent/wire/engine";
import { isFresh } from "../freshness.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import { type FederationRefusal, refuse, type RequestCode } from "../refusals.ts";

/** The signed content of a request: its body or, if it has none, its method, path and receiver. */
export interface SignedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** The receiver's relay id. */
  readonly to: string;
  /** The parsed JSON body with its unknown members. */
  readonly body?: unknown;
}

/** The content of the three headers before the signature is verified. */
export interface RequestClaim {
  readonly relayId: string;
  readonly signature: string;
  /**
   * The text of the header: an ISO 8601 date-time by the sender's clock, which is signed if the request has
   * no body.
   */
  readonly timestamp: string;
}

/**
 * The result of verifying a request. `bound` is false for a signature over `{}`, which covers neither the
 * method nor the path nor the receiver.
 */
export type VerifyRequestResult =
  | { readonly ok: true; readonly bound: boolean }
  | FederationRefusal<"federation.signature_invalid">;

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const SIGNATURE = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/**
 * Signs a request at `now`, in ms since the epoch by the sender's clock, and returns its three headers;
 * `secretKey` is the relay's 32-byte seed.
 */
export function signRequest(
  request: SignedRequest,
  { relayId, secretKey, now }: { relayId: string; secretKey: Uint8Array; now: number },
): Record<(typeof FEDERATION_HEADERS)[keyof typeof FEDERATION_HEADERS], string> {
  const timestamp = new Date(now).toISOString();
  return {
    "X-Relay-Id": relayId,
    "X-Relay-Signature": toBase64Url(sign(buildSignedText(request, timestamp), secretKey)),
    "X-Relay-Timestamp": timestamp,
  };
}

/** Signs an answer's canonical JSON; returns the value of `X-Relay-Signature`. */
export function signAnswer(body: object, secretKey: Uint8Array): string {
  return toBase64Url(sign(canonicalize(body), secretKey));
}

/**
 * Returns whether an answer's `X-Relay-Signature` was made with `publicKey` over its parsed body,
 * unknown members included.
 */
export function isAnswerSigned(
  body: unknown,
  signature: string | null,
  publicKey: string,
): boolean {
  if (signature === null || !SIGNATURE.test(signature)) return false;
  const isSigned = unlessMalformed(() =>
    verify(fromBase64Url(signature), canonicalize(body), hexToBytes(publicKey)),
  );
  return isSigned === true;
}

/**
 * Parses a request's headers, which `header` returns by name. Refused: a missing or malformed
 * header (`federation.signature_invalid`), a time that is not ISO 8601 or over 5 minutes from `now`, in ms
 * since the epoch by the receiver's clock (`federation.timestamp_expired`).
 */
export function parseRequestClaim(
  header: (name: string) => string | null | undefined,
  now: number,
  lifetimeMs: number = FEDERATION_LIMITS.maxTimestampAgeMs,
): { readonly ok: true; readonly claim: RequestClaim } | FederationRefusal<RequestCode> {
  const relayId = header(FEDERATION_HEADERS.relayId);
  const signature = header(FEDERATION_HEADERS.signature);
  const timestamp = header(FEDERATION_HEADERS.timestamp);
  if (!relayId || !isUuid(relayId)) return refuse("federation.signature_invalid", "X-Relay-Id");
  if (!signature || !SIGNATURE.test(signature)) {
    return refuse("federation.signature_invalid", "X-Relay-Signature");
  }
  const time = timestamp && ISO_TIME.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
  if (!timestamp || !isFresh(time, now, lifetimeMs)) return refuse("federation.timestamp_expired");
  return { ok: true, claim: { relayId, signature, timestamp } };
}

/** Verifies the claimed signature over the request under `publicKey` (64 hex digits). */
export function verifyRequest(
  request: SignedRequest,
  claim: RequestClaim,
  publicKey: string,
): VerifyRequestResult {
  const parsed = parseSignedTexts(request, claim, publicKey);
  const found = parsed?.texts.find(({ text }) => verify(parsed.signature, text, parsed.key));
  return found ? { ok: true, bound: found.bound } : refuse("federation.signature_invalid");
}

/**
 * Does the same as `verifyRequest`, with the signature verified off the event loop where there are
 * threads.
 */
export async function verifyRequestAsync(
  request: SignedRequest,
  claim: RequestClaim,
  publicKey: string,
): Promise<VerifyRequestResult> {
  const parsed = parseSignedTexts(request, claim, publicKey);
  for (const { text, bound } of parsed?.texts ?? []) {
    if (parsed && (await verifyAsync(parsed.signature, text, parsed.key)))
      return { ok: true, bound };
  }
  return refuse("federation.signature_invalid");
}

function buildSignedText({ method, path, to, body }: SignedRequest, timestamp: string): string {
  return canonicalize(body === undefined ? { method, path, timestamp, to } : body);
}

function parseSignedTexts(request: SignedRequest, claim: RequestClaim, publicKey: string) {
  return unlessMalformed(() => {
    const texts = [{ text: buildSignedText(request, claim.timestamp), bound: true }];
    // Other implementations may sign a constant text if there is no body; it does not cover the request.
    if (request.body === undefined) texts.push({ text: "{}", bound: false });
    return { signature: fromBase64Url(claim.signature), key: hexToBytes(publicKey), texts };
  });
}
