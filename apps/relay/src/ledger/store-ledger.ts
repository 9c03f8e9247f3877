import {
  crossCheckGoal,
  crossCheckSteps,
  isTimelineExtension,
  parseLedger,
  countSteps,
  verifyLedger,
  type Ledger,
} from "@agent/ledger";
import { canonicalize } from "@agent/crypto";
import { pathId, refuse, type Answer, type Operations, type Refusal } from "@agent/wire";
import * as v from "valibot";
import type { Services } from "../services.ts";
import type { LedgerRow } from "../storage/tables/ledger.ts";
import { listSignerKeys } from "../tasks/receipts/list-signer-keys.ts";
import { findTask } from "../tasks/store.ts";
import { findLedger, insertLedger, replaceLedger } from "./store.ts";

type StoreLedger = Operations["storeLedger"];
type LedgerDependencies = Pick<Services, "storage" | "runtime">;

/**
 * Stores an agent's signed ledger of a goal. A signed timeline is append-only: a later ledger of
 * the goal must extend the stored one (docs/decisions.md, 6).
 */
export async function storeLedger(
  services: LedgerDependencies,
  agentId: string,
  text: string,
): Promise<Answer<StoreLedger>> {
  const verified = await verifySubmittedLedger(services, agentId, text);
  if (!verified.ok) return verified;
  const { ledger } = verified;
  const { completed, total } = countSteps(ledger);
  const row: LedgerRow = {
    agent_id: agentId,
    goal_id: ledger.goal_id,
    content_hash: ledger.content_hash,
    body: text,
    steps_completed: completed,
    steps_total: total,
    stored_at: services.runtime.now(),
  };
  return saveLedger(services, row, ledger);
}

/** Long timelines are compared outside the transaction, which blocks other writers. */
async function saveLedger(
  services: LedgerDependencies,
  row: LedgerRow,
  ledger: Ledger,
): Promise<Answer<StoreLedger>> {
  const { storage } = services;
  const older = await findLedger(storage.read, row);
  if (older !== undefined) {
    const before = JSON.parse(older.body) as Ledger;
    if (isSameLedger(before, ledger)) return toStoredAnswer(200, older);
    if (!extendsLedger(before, ledger)) return refuse("ledger.not_extended");
  }
  const isStored = await storage.transaction((tx) =>
    older === undefined ? insertLedger(tx, row) : replaceLedger(tx, row, older.content_hash),
  );
  // Another ledger was stored in between, so this one is checked against it.
  return isStored ? toStoredAnswer(201, row) : saveLedger(services, row, ledger);
}

/** The content hash covers the timeline. */
function isSameLedger(before: Ledger, ledger: Ledger): boolean {
  const rest = (whole: Ledger) => canonicalize({ ...whole, timeline: [] });
  return before.content_hash === ledger.content_hash && rest(before) === rest(ledger);
}

/** A ledger with the same timeline differs only in unsigned members, which extends nothing. */
function extendsLedger(before: Ledger, ledger: Ledger): boolean {
  return (
    ledger.timeline.length > before.timeline.length &&
    isTimelineExtension(ledger.timeline, before.timeline)
  );
}

function toStoredAnswer<Status extends 200 | 201>(status: Status, row: LedgerRow) {
  const { goal_id, content_hash, stored_at } = row;
  return { status, body: { goal_id, content_hash, stored_at } };
}

type LedgerRefusal = Refusal<StoreLedger["refusals"][number]>;

/**
 * The text is parsed here so that a repeated member, which readers resolve differently, is refused.
 */
async function verifySubmittedLedger(
  { storage, runtime }: LedgerDependencies,
  agentId: string,
  text: string,
): Promise<{ readonly ok: true; readonly ledger: Ledger } | LedgerRefusal> {
  const parsed = parseLedger(text);
  if (!parsed.ok) return refuse(parsed.code, `${parsed.path} ${parsed.message}`.trim());
  const { ledger } = parsed;
  const goal = v.safeParse(pathId, ledger.goal_id);
  if (!goal.success) return refuse("ledger.malformed", `goal_id ${goal.issues[0].message}`);
  if (ledger.signature === undefined) return refuse("ledger.unsigned");
  const task = await findTask(storage.read, ledger.goal_id);
  const now = runtime.now();
  const keys = await listSignerKeys(
    storage.read,
    { agent_id: agentId, device_id: "" },
    {
      submittedAt: task?.submitted_at ?? now,
      // The last timestamp that the signature covers.
      completedAt: ledger.timeline.at(-1)?.timestamp ?? now,
      receivedAt: now,
    },
  );
  const verdict = verifyLedger(ledger, { agentId, publicKey: keys ?? [] });
  if (!verdict.valid) return refuse(verdict.code);
  // The signature covers neither goal nor steps, and payment depends on both.
  const [contradiction] = [...crossCheckGoal(ledger), ...crossCheckSteps(ledger)];
  return contradiction === undefined
    ? { ok: true, ledger }
    : refuse("ledger.contradicted", `${contradiction.code} at ${contradiction.path}`);
}
