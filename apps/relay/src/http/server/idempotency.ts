import { sha256Hex, utf8ToBytes } from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import type { Caller } from "../../identity/caller.ts";
import type { Runtime } from "../../runtime.ts";
import { BATCH_SIZE, purgeInBatches } from "../../storage/purge-in-batches.ts";
import type { Storage, Tx } from "../../storage/storage.ts";
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
  // One process owns the database, so all running requests are known here.
  const running = new Set<string>();

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
        if (saved === undefined) {
          return await run((tx, { status, body }) =>
            insertIdempotencyKey(tx, {
              scope,
              key,
              request_hash,
              status,
              body: JSON.stringify(body),
              created_at: runtime.now(),
            }),
          );
        }
        return saved.request_hash === request_hash
          ? { status: saved.status, body: JSON.parse(saved.body) as unknown }
          : refuse("idempotency.key_reused");
      } finally {
        running.delete(name);
      }
    },
  };
}

/** The operator acts for many agents, so its keys are separate for each of them. */
function getKeyScope({ operation, caller, params, body }: KeyedRequest): string {
  if (caller.kind === "agent") return `${operation} ${caller.agentId}`;
  const { submitted_by, agent_id } = (body ?? {}) as { submitted_by?: string; agent_id?: string };
  return `${operation} ${caller.kind} ${submitted_by ?? agent_id ?? params.agentId ?? ""}`;
}

/** Deletes expired keys. */
export async function purgeIdempotencyKeys({
  storage,
  runtime,
}: IdempotencyDependencies): Promise<void> {
  const old = { until: runtime.now() - limits.idempotencyKeyMs, limit: BATCH_SIZE };
  await purgeInBatches(() => storage.transaction((tx) => deleteExpiredIdempotencyKeys(tx, old)));
}
