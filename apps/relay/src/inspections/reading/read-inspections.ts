import {
  limits,
  type Answer,
  type InspectionRole,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { createPageAnswer, textDescending, type PageQuery } from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import { findReadableInspection, type InspectionPath, type ReadServices } from "./find-readable.ts";
import { toInspectionView } from "./inspection-view.ts";
import { listEveryInspection, listInspectionsOf, listWaitingDisputes } from "./list-store.ts";

interface InspectionRequest extends InspectionPath {
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
}

/** Returns an inspection; while it is open, waits up to `waitSeconds` for a change. */
export async function getInspection(
  services: ReadServices & Pick<Services, "waiters">,
  { waitSeconds, signal, ...path }: InspectionRequest,
): Promise<Answer<Operations["getInspection"]>> {
  // Watching begins before the read, so that a change between the two is not missed.
  const watch =
    waitSeconds > 0 ? services.waiters.watch(path.taskId, waitSeconds * 1_000, signal) : undefined;
  let found = await findReadableInspection(services, path);
  if (watch !== undefined) {
    const mayWait = found.ok && found.row.closed_at === null;
    if (!mayWait) watch.stop();
    await watch.changed;
    if (mayWait) found = await findReadableInspection(services, path);
  }
  return found.ok ? { status: 200, body: toInspectionView(found.row) } : found;
}

interface ListRequest {
  readonly agentId: string;
  readonly role: InspectionRole | undefined;
  readonly query: QueryOf<Operations["listInspections"]>;
}

/** Lists the inspections that an agent may read, newest task first. */
export function listInspections(
  { storage, freezer }: Pick<Services, "storage" | "freezer">,
  { agentId: agent_id, role, query }: ListRequest,
): Promise<Answer<Operations["listInspections"]>> {
  const { state = "" } = query;
  const now = freezer.taskTime();
  const listed = { agent_id, state, now, closed_after: now - limits.arbiterAccessMs };
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) =>
      listInspectionsOf(storage.read, role ?? "all", { ...listed, before, limit }),
    keyOf: ({ task_id }) => task_id,
    show: (rows) => ({ inspections: rows.map(toInspectionView) }),
  });
}

/** Lists the inspections of all tasks for the operator, newest task first. */
export function listAllInspections(
  { storage }: Pick<Services, "storage">,
  query: QueryOf<Operations["listAllInspections"]>,
): Promise<Answer<Operations["listAllInspections"]>> {
  const { state = "" } = query;
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) => listEveryInspection(storage.read, { state, before, limit }),
    keyOf: ({ task_id }) => task_id,
    show: (rows) => ({ inspections: rows.map(toInspectionView) }),
  });
}

/**
 * A position in `listWaitingDisputes` as a text, which begins with the amount; the first position is before
 * any amount.
 */
const waitingOrder = {
  form: /^\d{1,15}:[\x21-\x7e]+$/,
  start: "999999999999999:",
  keyFrom: String,
} as const;

/** Lists the disputes that wait for the operator, the largest sum first and of equal sums the oldest task. */
export function listDisputes(
  { storage, identity }: Pick<Services, "storage" | "identity">,
  query: PageQuery,
): Promise<Answer<Operations["listDisputes"]>> {
  return createPageAnswer(query, {
    order: waitingOrder,
    find: (place, limit) => {
      const end = place.indexOf(":");
      const after = { due: Number(place.slice(0, end)), task_id: place.slice(end + 1) };
      return listWaitingDisputes(storage.read, { arbiter_id: identity.relayId, ...after, limit });
    },
    keyOf: ({ due, task_id }) => `${due}:${task_id}`,
    show: (rows) => ({ inspections: rows.map(toInspectionView) }),
  });
}
