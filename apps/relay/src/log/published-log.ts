import { signLogStatement, type LogStatement, type VerifierKey } from "@agent/transparency";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { WITNESS_PREFIX } from "@agent/wire/engine";
import { NO_STORE } from "../http/caching.ts";
import type { Services } from "../services.ts";
import type { LogHeadRow } from "../storage/tables/log.ts";

/** Paths of the log, which are not served while it is off. */
export const LOG_PREFIX = "/log/v1";

export const NOTE_MEDIA_TYPE = "text/plain; charset=utf-8";

/** Answers a signed head as its log and its witnesses signed it. */
export function answerHead(head: LogHeadRow | undefined): Answer<Operations["getCheckpoint"]> {
  return head === undefined
    ? { ...refuse("log.no_checkpoint"), headers: NO_STORE }
    : {
        status: 200,
        mediaType: NOTE_MEDIA_TYPE,
        content: head.note,
        headers: { "cache-control": "max-age=1" },
      };
}

/**
 * Builds the statement from which a reader who trusts the relay's key learns the keys and addresses of its
 * log and its witness. If one of the two is off, its members are null.
 */
export function buildLogStatement({
  config,
  identity,
  relayLog,
}: Pick<Services, "config" | "identity" | "relayLog">): LogStatement {
  const { logKey, witnessKey } = relayLog.keys();
  const { baseUrl } = config.server;
  const addressOf = (key: VerifierKey, path: string) => ({
    key,
    prefix: baseUrl === undefined ? null : `${baseUrl}${path}`,
  });
  const stated = {
    log: relayLog.isOn ? addressOf(logKey, LOG_PREFIX) : null,
    witness: config.witness.isOn ? addressOf(witnessKey, WITNESS_PREFIX.slice(0, -1)) : null,
  };
  return signLogStatement(identity.relayId, stated, identity.secretKey);
}
