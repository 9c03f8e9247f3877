import { limits, refuse, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { DAY_MS } from "../../clock/durations.ts";
import type { Services } from "../../services.ts";
import type { OnlineWatchRow } from "../../storage/tables/operator.ts";
import { findAgent } from "../store.ts";
import { getFirstLook } from "./get-first-look.ts";
import { listSpans, listWatches } from "./span-store.ts";

type GetOnlineHistory = Operations["getOnlineHistory"];

/** Returns the periods in which an agent was online, and those in which the relay took samples. */
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
  const known = Math.max(from, agent.created_at);
  const found = await listSpans(read, { agent_id: agentId, from: known });
  const first = Math.max(from, getFirstLook(agent.created_at, found));
  const cut = (rows: readonly OnlineWatchRow[]) =>
    rows
      .filter(({ since, until }) => since <= to && until >= first)
      .map(({ since, until }) => ({ from: Math.max(first, since), until: Math.min(to, until) }));
  // The watches are read last, so that no span ends after them.
  const spans = cut(found);
  const watched = cut(await listWatches(read, known));
  return { status: 200, body: { agent_id: agentId, from, to, spans, watched } };
}
