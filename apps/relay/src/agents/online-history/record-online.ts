import type { Tx } from "../../storage/storage.ts";
import { decideSpan, getSpanEnd, isSeamless, MAX_MISS_MS, type SpanChange } from "./decide-span.ts";
import {
  beginSpans,
  cutLaterSpans,
  endSpans,
  findNewestWatch,
  listNewestSpans,
  resumeSpans,
  saveWatch,
} from "./span-store.ts";

/** Adds a sample of the agents that are online to their histories. */
export async function recordOnline(
  tx: Tx,
  online: ReadonlySet<string>,
  now: number,
): Promise<void> {
  const watch = await beginSample(tx, now);
  const sample = { now, before: watch?.until };
  const newest = new Map(
    (await listNewestSpans(tx, now - MAX_MISS_MS)).map(({ agent_id, until }) => [
      agent_id,
      { until },
    ]),
  );
  const agents: Record<SpanChange, string[]> = { end: [], resume: [], begin: [] };
  for (const agentId of new Set([...newest.keys(), ...online])) {
    for (const change of decideSpan(newest.get(agentId), online.has(agentId), sample)) {
      agents[change].push(agentId);
    }
  }
  if (agents.end.length > 0) await endSpans(tx, { agents: agents.end, until: getSpanEnd(sample) });
  if (agents.resume.length > 0) {
    await resumeSpans(tx, { agents: agents.resume, since: now - MAX_MISS_MS });
  }
  if (agents.begin.length > 0) await beginSpans(tx, { agents: agents.begin, since: now });
  const isFirst = watch === undefined || !isSeamless(watch.until, now);
  await saveWatch(tx, { since: isFirst ? now : watch.since, until: now });
}

/** Returns the newest watch, after a clock that went back without the times that it stored before. */
async function beginSample(tx: Tx, now: number) {
  const watch = await findNewestWatch(tx);
  if (watch === undefined || watch.until <= now) return watch;
  await cutLaterSpans(tx, now);
  return findNewestWatch(tx);
}
