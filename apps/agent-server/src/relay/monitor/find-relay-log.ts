import { boundedBody } from "@agent/client";
import { openLogStatement, type VerifierKey } from "@agent/transparency";
import * as v from "valibot";
import type { Runtime } from "../../runtime.ts";
import { checkRelayPins, type RelayPin } from "../check-relay-pins.ts";

export type FindRelayLogResult =
  /** The key of the log is null while the relay has no log. */
  | { readonly ok: true; readonly logKey: VerifierKey | null }
  | { readonly ok: false; readonly code: string };

const Document = v.looseObject({
  relay_id: v.string(),
  public_key: v.string(),
  did: v.string(),
  succession: v.optional(v.array(v.unknown())),
  log: v.optional(v.unknown()),
});

const MAX_DOCUMENT_BYTES = 262_144;
const TIMEOUT_MS = 10_000;

/**
 * Reads the log that a joined relay states under its own key. The document is read without a schema,
 * because the signature of the statement also covers members of later versions.
 */
export async function findRelayLog(
  url: string,
  relay: Required<RelayPin>,
  runtime: Pick<Runtime, "fetch">,
): Promise<FindRelayLogResult> {
  const document = await readDocument(`${url}/.well-known/agent-relay.json`, runtime);
  if (document === undefined) return { ok: false, code: "network.unreachable" };
  if (!v.is(Document, document)) return { ok: false, code: "response.malformed" };
  if (document.relay_id !== relay.relayId) return { ok: false, code: "relay.key_changed" };
  const pinned = checkRelayPins([relay], document);
  if (!pinned.ok) return pinned;
  if (document.log === undefined) return { ok: true, logKey: null };
  const by = { relayId: relay.relayId, publicKey: document.public_key };
  const opened = openLogStatement(document.log, by);
  return opened.ok ? { ok: true, logKey: opened.log?.key ?? null } : opened;
}

async function readDocument(url: string, runtime: Pick<Runtime, "fetch">): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { ok, body } = await runtime.fetch(url, { redirect: "error", signal });
    if (!ok || body === null) return undefined;
    const tooLong = () => new Error("the answer is too long");
    const bounds = { maxBytes: MAX_DOCUMENT_BYTES, tooLong };
    return (await new Response(boundedBody(body, bounds)).json()) as unknown;
  } catch {
    return undefined;
  }
}
