import type { CallResult } from "../calls/call.ts";
import type { CallRefusal } from "../calls/refusal.ts";
import type { Operations } from "@agent/wire";

type DidResult = { readonly ok: true; readonly did: string } | CallRefusal;

/** The did:key to which tokens for a relay are addressed. */
export interface RelayAudience {
  did(): Promise<DidResult>;
  /** Returns whether the relay's current DID differs from the audience of a refused token. */
  differsFrom(did: string): Promise<boolean>;
}

/**
 * Reads the relay's DID when it is first needed, and again after a refusal, because a relay in memory has a
 * new key after each start. A pinned DID is never re-read.
 */
export function createRelayAudience(
  pinned: string | undefined,
  fetchInfo: () => Promise<CallResult<Operations["relayInfo"]>>,
): RelayAudience {
  let cached: Promise<DidResult> | undefined =
    pinned === undefined ? undefined : Promise.resolve({ ok: true, did: pinned });

  async function did(): Promise<DidResult> {
    cached ??= fetchInfo().then((answer) =>
      answer.ok ? { ok: true, did: answer.body.did } : answer,
    );
    const pending = cached;
    const answer = await pending;
    if (!answer.ok && cached === pending) cached = undefined;
    return answer;
  }

  return {
    did,
    async differsFrom(refused) {
      const current = await did();
      if (pinned !== undefined || !current.ok) return false;
      if (current.did !== refused) return true;
      cached = undefined;
      const pending = await did();
      return pending.ok && pending.did !== refused;
    },
  };
}
