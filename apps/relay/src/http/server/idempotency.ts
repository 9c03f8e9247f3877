import { sha256Hex, utf8ToBytes } from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import type { Caller } from "../../identity/caller.ts";
import type { Runtime } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import { purgeInBatches } from "../../storage/run-in-batches.ts";
import type { Storage, Tx } from "../../storage/storage.ts";
import type { IdempotencyKeyRow } from "../../storage/tables/http.ts";
import {
  findIdempotencyKey,
  deleteExpiredIdempotencyKeys,
  insertIdempotencyKey,
} from "./idempotency-store.ts";

/** A successful response that can be repeated. */
export interface SavedResponse {
  readonly ok?: true;
  readonly status: number;
  readonly body: unknown;
  /** Whether this is the answer to an earlier request. */
  readonly isRepeated?: true;
}

/** Saves a response in the transaction of its effect, so that both are committed or neither is. */
export type SaveResponse = (tx: Tx, answer: SavedResponse) => Promise<void>;

export interface KeyedRequest {
  readonly operation: string;
  /** The path as the client sent it. */
  readonly path: string;
  readonly params: { readonly agentId?: string };
  readonly caller: Caller;
  readonly key: string;
  readonly text: string;
  readonly body: unknown;
}

export interface Idempotency {
  /** Repeats the response of the first request with this key; `run` takes effect at most once. */
  runOnce<A extends SavedResponse | Refusal>(
    request: KeyedRequest,
    run: (saveResponse: SaveResponse) => Promise<A> | A,
  ): Promise<A | SavedResponse | Refusal>;
}

interface IdempotencyDependencies {
  readonly storage: Pick<Storage, "read" | "transaction">;
  readonly runtime: Pick<Runtime, "now">;
}

/**
 * Runs requests with an `Idempotency-Key` (docs/decisions.md, 1). A key is reserved while its request
 * runs and for a day after a success; a refused or failed request releases it.
 */
export function createIdempotency({ storage, runtime }: IdempotencyDependencies): Idempotency {
  // A request that runs at another process is found out by the key that both must insert.
  const running = new Set<string>();

  async function runNew<A extends SavedResponse | Refusal>(
    keyed: NewKey,
    run: (saveResponse: SaveResponse) => Promise<A> | A,
  ): Promise<A | SavedResponse | Refusal> {
    const { since, ...row } = keyed;
    try {
      return await run(async (tx, { status, body }) => {
        const answer = { status, body: JSON.stringify(body), created_at: runtime.now() };
        if (!(await insertIdempotencyKey(tx, { ...row, ...answer }, since))) throw new KeyTaken();
      });
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      const saved = await findIdempotencyKey(storage.read, keyed);
      return saved === undefined ? refuse("idempotency.key_in_use") : answerAgain(saved, keyed);
    }
  }

  return {
    async runOnce(request, run) {
      const { key } = request;
      if (!/^[\x21-\x7e]+$/.test(key) || key.length > limits.idempotencyKeyLength) {
        return refuse("idempotency.key_invalid");
      }
      const scope = getKeyScope(request);
      const request_hash = sha256Hex(utf8ToBytes(`${request.path}\n${request.text}`));
      const name = `${scope} ${key}`;
      if (running.has(name)) return refuse("idempotency.key_in_use");
      running.add(name);
      try {
        const since = runtime.now() - limits.idempotencyKeyMs;
        const saved = await findIdempotencyKey(storage.read, { scope, key, since });
        const keyed = { scope, key, request_hash, since };
        return saved === undefined ? await runNew(keyed, run) : answerAgain(saved, keyed);
      } finally {
        running.delete(name);
      }
    },
  };
}

/** A key for which no answer was saved since a time. */
interface NewKey extends Pick<IdempotencyKeyRow, "scope" | "key" | "request_hash"> {
  readonly since: number;
}

/** Rolls back a transaction, because another process has saved an answer under its key. */
class KeyTaken extends Error {
  override readonly name = "KeyTaken";
}

function answerAgain(
  saved: IdempotencyKeyRow,
  { request_hash }: Pick<NewKey, "request_hash">,
): SavedResponse | Refusal {
  return saved.request_hash === request_hash
    ? { status: saved.status, body: JSON.parse(saved.body) as unknown, isRepeated: true }
    : refuse("idempotency.key_reused");
}

/** The operator acts for many agents, so its keys are separate for each of them. */
function getKeyScope({ operation, caller, params, body }: KeyedRequest): string {
  if (caller.kind === "agent") return `${operation} ${caller.agentId}`;
  const { submitted_by, agent_id } = (body ?? {}) as { submitted_by?: string; agent_id?: string };
  return `${operation} ${caller.kind} ${submitted_by ?? agent_id ?? params.agentId ?? ""}`;
}

const CLOCK_RETURN_MS = 600_000;

/**
 * Deletes expired keys, but not in the first ten minutes after a start or an accepted jump of the clock,
 * and not on the first day after a forward jump: such a jump may be undone at any time, and the same key
 * must not do its work twice. After a day, a key from before the jump has expired by the correct time as
 * well.
 */
export async function purgeIdempotencyKeys({
  storage,
  runtime,
  clock,
}: Pick<Services, "storage" | "runtime" | "clock">): Promise<void> {
  if (clock.elapsed() - clock.lastMovedAt() < CLOCK_RETURN_MS) return;
  if (clock.elapsed() - clock.lastMovedForwardAt() < limits.idempotencyKeyMs) return;
  await purgeInBatches(storage, deleteExpiredIdempotencyKeys, {
    until: runtime.now() - limits.idempotencyKeyMs,
  });
}
