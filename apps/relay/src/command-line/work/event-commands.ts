import type { RelayEvent } from "@agent/wire";
import type { Block } from "../format-blocks.ts";
import { formatTime } from "../format-values.ts";
import { usageFault, type CommandCall, type CommandResult } from "../operator-command.ts";

const DEFAULT_COUNT = 50;
const MAX_COUNT = 200;
/** Below the rate limit of reading operations. */
const POLL_MS = 2_000;
const DELAYED_NOTE =
  "newer events are missing: the database accepts no writes, see `agent-relay doctor`";

/** Lists the newest events, or those after a number. */
export async function listRecentEvents(call: CommandCall): Promise<CommandResult> {
  const { client, options } = call;
  const limit = Math.min(Number(options.limit ?? DEFAULT_COUNT), MAX_COUNT);
  if (!(limit >= 1)) return usageFault("--limit must be from 1 to 200");
  const start = await findStart(call, limit);
  if (typeof start !== "number") return start;
  const answer = await client.listRelayEvents({ query: { after: start, limit } });
  if (!answer.ok) return answer;
  if (typeof answer.body === "string") throw new Error("the relay streamed a list");
  const { events, delayed } = answer.body;
  const listed: readonly Block[] = events.length === 0 ? ["no events"] : events.map(describeEvent);
  const blocks = delayed === true ? [...listed, DELAYED_NOTE] : listed;
  return { ok: true, body: answer.body, blocks };
}

/** Prints events as they happen until it is interrupted. */
export async function followEvents(call: CommandCall): Promise<CommandResult> {
  const start = await findStart(call, DEFAULT_COUNT);
  if (typeof start !== "number") return start;
  let after = start;
  while (!call.isInterrupted()) {
    const answer = await call.client.listRelayEvents({ query: { after, limit: MAX_COUNT } });
    if (!answer.ok) return answer;
    if (typeof answer.body === "string") throw new Error("the relay streamed a list");
    for (const event of answer.body.events) {
      call.print({ ok: true, body: event, blocks: [describeEvent(event)] });
      after = event.sequence;
    }
    if (answer.body.events.length < MAX_COUNT) await call.wait(POLL_MS);
  }
  return { ok: true, body: undefined, blocks: [] };
}

/** The number after which the list begins. */
async function findStart(
  { client, options: { after } }: CommandCall,
  count: number,
): Promise<number | CommandResult> {
  if (after !== undefined) {
    return /^\d{1,15}$/.test(after) ? Number(after) : usageFault("--after must be a number");
  }
  const overview = await client.getOverview();
  return overview.ok ? Math.max(0, overview.body.last_event - count) : overview;
}

function describeEvent({ sequence, at, type, ...members }: RelayEvent): Block {
  const words = Object.entries(members)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return `${sequence}  ${formatTime(at)}  ${type}  ${words.join(" ")}`;
}
