import type { Delivery } from "@agent/federation-protocol/delivery";
import { isJsonObject } from "@agent/crypto";
import { parseRetryAfterMs } from "@agent/client";
import { FEDERATION_HEADERS, signRequest } from "@agent/federation-protocol/signing";
import { limits } from "@agent/wire";
import { EgressError } from "../../http/egress/egress.ts";
import type { Services } from "../../services.ts";

export type PeerCaller = Pick<Services, "identity" | "runtime" | "egress">;

/** The address of a relay, and the relay id that is expected there. */
export interface PeerAddress {
  readonly relay_id: string;
  readonly endpoint_url: string;
}

/** The outcome and the answer of a call; `code` is that of a refusal. */
export interface PeerReply {
  readonly delivery: Delivery;
  readonly body: unknown;
  readonly code: string | undefined;
  /** The answer's `X-Relay-Signature`; null if it has none. */
  readonly signature: string | null;
}

export interface PeerCall {
  readonly method: "GET" | "POST";
  /** The path with its query. */
  readonly path: string;
  readonly body?: object;
  readonly timeoutMs?: number;
}

/** Binds a body to one receiver and a short time (docs/decisions.md, 7). */
export function withRecipient<Body extends object>(
  { runtime }: Pick<PeerCaller, "runtime">,
  peer: Pick<PeerAddress, "relay_id">,
  body: Body,
): Body & { readonly timestamp: number; readonly to: string } {
  return { ...body, timestamp: runtime.now(), to: peer.relay_id };
}

/** Sends a signed request to a peer; never throws for a failure of the peer or of the network. */
export async function callPeer(
  { identity, runtime, egress }: PeerCaller,
  peer: PeerAddress,
  { method, path, body, timeoutMs = limits.federationTimeoutMs }: PeerCall,
): Promise<PeerReply> {
  const { relayId, secretKey } = identity;
  const headers = signRequest(
    { method, path, to: peer.relay_id, ...(body !== undefined && { body }) },
    { relayId, secretKey, now: runtime.now() },
  );
  try {
    const answer = await egress.withTimeout(timeoutMs)(buildUrl(peer, path), {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const parsed = parseJson(await answer.text());
    // A proxy's page is not an acceptance by the peer.
    if (answer.ok && !isJsonObject(parsed)) return WITHOUT_ANSWER;
    const code = answer.ok ? undefined : parseCode(parsed);
    const retryAfterMs = parseRetryAfterMs(answer.headers.get("retry-after"), runtime.now());
    return {
      delivery: { kind: "answered", status: answer.status, code, retryAfterMs },
      body: parsed,
      code,
      signature: answer.headers.get(FEDERATION_HEADERS.signature),
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const kind = UNSENT_CODES.has(error.code) ? "unreachable" : "unknown";
    return { ...WITHOUT_ANSWER, delivery: { kind }, code: error.code };
  }
}

const WITHOUT_ANSWER: PeerReply = {
  delivery: { kind: "unknown" },
  body: undefined,
  code: undefined,
  signature: null,
};

const UNSENT_CODES = new Set<EgressError["code"]>([
  "egress.url_invalid",
  "egress.scheme_refused",
  "egress.credentials_refused",
  "egress.address_refused",
  "egress.unreachable",
]);

function buildUrl({ endpoint_url }: PeerAddress, path: string): string {
  return `${endpoint_url.replace(/\/+$/, "")}${path}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseCode(body: unknown): string | undefined {
  const code = (body as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && /^[a-z0-9_.]{1,64}$/.test(code) ? code : undefined;
}
