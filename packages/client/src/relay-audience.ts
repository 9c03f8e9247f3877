import type { CallResult } from "./call.ts";
import type { CallRefusal } from "./refusal.ts";
import type { Operations } from "@agent/wire";

type Known = { readonly ok: true; readonly did: string } | CallRefusal;

/** The did:key that tokens for a relay are addressed to. */
export interface RelayAudience {
  did(): Promise<Known>;
  /** Whether the relay by now has another did than the one a refused token was addressed to. */
  differsFrom(did: string): Promise<boolean>;
}

/**
 * Asks the relay who it is when that is first needed, and again after a refusal: a relay in memory has a
 * new key after each start. A did that was pinned is never asked for.
 */
export function relayAudience(
  pinned: string | undefined,
  ask: () => Promise<CallResult<Operations["relayInfo"]>>,
): RelayAudience {
  let known: Promise<Known> | undefined =
    pinned === undefined ? undefined : Promise.resolve({ ok: true, did: pinned });

  async function did(): Promise<Known> {
    known ??= ask().then((answer) => (answer.ok ? { ok: true, did: answer.body.did } : answer));
    const asked = known;
    const answer = await asked;
    if (!answer.ok && known === asked) known = undefined;
    return answer;
  }

  return {
    did,
    async differsFrom(refused) {
      const current = await did();
      if (pinned !== undefined || !current.ok) return false;
      if (current.did !== refused) return true;
      known = undefined;
      const asked = await did();
      return asked.ok && asked.did !== refused;
    },
  };
}
