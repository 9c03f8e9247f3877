import { limits, refuse, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { DAY_MS } from "../../clock/day-ms.ts";
import type { Services } from "../../services.ts";
import type { OnlineWatchRow } from "../../storage/tables/operator.ts";
import { findAgent } from "../store.ts";
import { listSpans, listWatches } from "./span-store.ts";

type GetOnlineHistory = Operations["getOnlineHistory"];

/** Returns the times in which an agent was online, and those in which the relay looked. */
export async function getOnlineHistory(
  { storage: { read }, runtime }: Pick<Services, "storage" | "runtime">,
  agentId: string,
  { from: wanted }: QueryOf<GetOnlineHistory>,
): Promise<Answer<GetOnlineHistory>> {
  const agent = await findAgent(read, agentId);
  if (agent === undefined) return refuse("agent.not_found");
  const to = runtime.now();
  const from = Math.min(to, Math.max(wanted ?? to - DAY_MS, to - limits.onlineHistoryMs));
  // It could not be found before it was known.
  const first = Math.max(from, agent.created_at);
  const cut = (rows: readonly OnlineWatchRow[]) =>
    rows
      .filter(({ since }) => since <= to)
      .map(({ since, until }) => ({ from: Math.max(first, since), until: Math.min(to, until) }));
  // The watches are read last, so that no span ends after them.
  const spans = cut(await listSpans(read, { agent_id: agentId, from: first }));
  const watched = cut(await listWatches(read, first));
  return { status: 200, body: { agent_id: agentId, from, to, spans, watched } };
}
