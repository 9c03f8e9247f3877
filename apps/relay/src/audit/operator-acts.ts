import { createRedactor } from "@agent/wire";
import { encodeLogValue } from "../observability/log-value.ts";
import type { Services } from "../services.ts";
import { StorageFrozen, type Tx } from "../storage/storage.ts";
import { insertAuditEntry, setAuditResult } from "./store.ts";

/** The key of the operator's actions among the entries of agents, whose ids are UUIDs. */
export const OPERATOR_ENTRIES = "operator";

/** An action of the operator or of one of its console sessions. */
export interface OperatorAct {
  /** The name of the token or the session. */
  readonly actor: string;
  /** The name of the operation. */
  readonly action: string;
  /** The parameters of the path and the members of the body; secrets in it are not recorded. */
  readonly detail: object;
}

const MAX_DETAIL_CHARACTERS = 1_000;
const redact = createRedactor([]);

/** Records an action in the transaction that performs it. */
export function insertOperatorAct(
  tx: Tx,
  now: number,
  { actor, action, detail }: OperatorAct,
  result: string | null,
): Promise<number> {
  const text = encodeLogValue(detail, redact);
  return insertAuditEntry(tx, {
    agent_id: OPERATOR_ENTRIES,
    at: now,
    actor,
    device_id: null,
    action,
    detail: text === "{}" ? null : text.slice(0, MAX_DETAIL_CHARACTERS),
    result,
  });
}

/**
 * Runs an action and records it before it begins, so that none is missing after a crash, and again with its
 * answer. This also works while the relay is frozen; once its database is damaged, only the log shows the
 * action.
 */
export async function recordOperatorAct<Answer extends object>(
  { freezer, runtime, log }: Pick<Services, "freezer" | "runtime" | "log">,
  act: OperatorAct,
  run: () => Promise<Answer> | Answer,
): Promise<Answer> {
  let sequence: number | undefined;
  try {
    sequence = await freezer.writeAlways((tx) => insertOperatorAct(tx, runtime.now(), act, null));
  } catch (error) {
    if (!(error instanceof StorageFrozen)) throw error;
    log.warn("operator.act_not_recorded", { actor: act.actor, action: act.action });
  }
  const recordResult = async (result: string) => {
    if (sequence === undefined) return;
    const answered = { agent_id: OPERATOR_ENTRIES, sequence, result };
    await freezer
      .writeAlways((tx) => setAuditResult(tx, answered))
      .catch((error: unknown) => {
        // The action has taken effect, so its answer must not be lost.
        log.error("operator.result_not_recorded", { action: act.action, error: String(error) });
      });
  };
  try {
    const answer = await run();
    await recordResult(toResult(answer));
    return answer;
  } catch (error) {
    await recordResult("server.failed");
    throw error;
  }
}

/**
 * The code of a refusal, or otherwise the status, with `repeated` for an action without effect because an
 * earlier one had done it. So of two deposits with one reference the audit shows which one was credited.
 */
function toResult(answer: object): string {
  const { code, status = 200, body, isRepeated = false } = answer as ActAnswer;
  if (code !== undefined) return code;
  return isRepeated || body?.idempotent === true ? `${status} repeated` : String(status);
}

/** The members of an answer that the audit states. */
interface ActAnswer {
  readonly code?: string;
  readonly status?: number;
  /** An operation with references answers `idempotent` for a reference that was already used. */
  readonly body?: { readonly idempotent?: unknown } | null;
  /** Whether the answer was saved under an idempotency key. */
  readonly isRepeated?: boolean;
}
