import {
  answerAddCheckpoint,
  parseAddCheckpoint,
  type AddCheckpointAnswer,
  type NextHead,
} from "@agent/transparency";
import { limits, refuse, type Answer, type WitnessOperations } from "@agent/wire";
import { NO_STORE } from "../http/caching.ts";
import type { RateLimiter } from "../http/limits/rate-limit.ts";
import type { Services } from "../services.ts";
import { findKnownLog, type KnownLog } from "./find-known-log.ts";
import {
  deleteStatedLog,
  findWitnessed,
  insertEvidence,
  insertWitnessed,
  updateWitnessed,
} from "./store.ts";
import type { Witness } from "./witness.ts";

/** The parts of a relay that cosigns. */
export type WitnessParts = Pick<Services, "config" | "runtime" | "storage" | "log"> & {
  readonly witness: Witness;
};

type Answered = Answer<WitnessOperations["addCheckpoint"]>;

/**
 * Answers a log that requests a cosignature (C2SP tlog-witness). The new head is stored before the answer,
 * by one statement on condition that its predecessor is still the one that the proof was checked against. A
 * head that the log signed but that contradicts it is kept as evidence.
 */
export async function addCheckpoint(
  services: WitnessParts,
  text: string,
  limiter: RateLimiter,
): Promise<Answered> {
  const { config, runtime, storage } = services;
  const parsed = parseAddCheckpoint(text);
  if (!parsed.ok) return refuse(parsed.code);
  const witness = services.witness.getSigner();
  if (witness === undefined) return refuse("log.origin_unknown");
  const { origin } = parsed.request.head;
  const known = await findKnownLog(storage.read, config, origin);
  const time = Math.floor(runtime.now() / 1_000);
  const answer = answerAddCheckpoint(parsed.request, known, { witness, time });
  if (known === undefined || answer.status === 403 || answer.status === 404) {
    return refuse("code" in answer ? answer.code : "log.origin_unknown");
  }
  // Only the log itself can use up its requests, because its signature is valid from here on.
  const rate = limiter.take(limits.witnessRequests, limits.rateWindowMs, `witness ${origin}`);
  if (!rate.allowed) {
    return { ...refuse("rate.exceeded"), retryAfterSeconds: rate.retryAfterSeconds };
  }
  if (answer.status === 200) return storeHead(services, known, answer);
  await keepEvidence(services, known, answer);
  return answer.status === 409 ? stateSize(known.size) : refuse(answer.code);
}

async function storeHead(
  { storage, runtime, witness }: WitnessParts,
  { logKey, vkey }: KnownLog,
  { body, next }: Extract<AddCheckpointAnswer, { readonly status: 200 }>,
): Promise<Answered> {
  const { name: origin } = logKey;
  const now = runtime.now();
  const isStored = await storage.transaction(async (tx) => {
    // A log that only the operator named has no row before its first head.
    if (next.oldSize === 0) {
      await deleteStatedLog(tx, { origin, vkey });
      await insertWitnessed(tx, { origin, vkey, relay_id: null, pinned_at: now });
    }
    return updateWitnessed(tx, toRow(next, { origin, vkey, cosigned_at: now }));
  });
  if (!isStored) return stateSize((await findWitnessed(storage.read, origin))?.size ?? 0);
  // An older copy of the database can have the same size, so only a head that grew shows that it is older.
  if (next.size > next.oldSize) await witness.keepCosigned(next.checkpoint);
  return toText("text/plain; charset=utf-8", 200, body);
}

const toRow = <Rest>(
  { oldSize: old_size, size, root, checkpoint: note }: NextHead,
  rest: Rest,
) => ({ ...rest, old_size, size, root, note });

/** Returns the answer to a log whose old size differs from the size cosigned last. */
const stateSize = (size: number): Answered => toText("text/x.tlog.size", 409, `${size}\n`);

const toText = (
  mediaType: "text/plain; charset=utf-8" | "text/x.tlog.size",
  status: 200 | 409,
  content: string,
): Answered => ({ status, mediaType, content, headers: NO_STORE });

async function keepEvidence(
  { storage, runtime, log }: WitnessParts,
  { logKey, note: held }: KnownLog,
  answer: AddCheckpointAnswer,
): Promise<void> {
  const offered = "evidence" in answer ? answer.evidence : null;
  if (offered === null) return;
  const { name: origin } = logKey;
  const code = answer.status === 422 ? answer.code : "log.equivocation";
  const seen_at = runtime.now();
  const isNew = await storage.transaction((tx) =>
    insertEvidence(tx, { origin, code, held, offered, seen_at }),
  );
  // A head that is sent again must not fill the operator's log.
  if (isNew) log.error("log.equivocation", { origin, code });
}
