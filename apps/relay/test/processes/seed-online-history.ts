/**
 * Writes samples of an agent, one a minute up to now, into a new database, with the relay's own code:
 * `node --conditions=agent-source apps/relay/test/processes/seed-online-history.ts JSON`, with `path`, `agentId`,
 * the number of `minutes`, and the minutes ago at which the relay was `stopped` and the agent `away`.
 */
import { createAgentRow } from "../../src/agents/bootstrap-agent.ts";
import { recordOnline } from "../../src/agents/online-history/record-online.ts";
import { saveAgent } from "../../src/agents/store.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage } from "../../src/storage/open-storage.ts";

const MINUTE_MS = 60_000;

interface SeededHistory {
  readonly path: string;
  readonly agentId: string;
  readonly minutes: number;
  readonly stopped: readonly (readonly [from: number, until: number])[];
  readonly away: SeededHistory["stopped"];
}

const [given = ""] = process.argv.slice(2);
const { path, agentId, minutes, stopped, away } = JSON.parse(given) as SeededHistory;
const isWithin = (ago: number, times: SeededHistory["stopped"]) =>
  times.some(([from, until]) => ago <= from && ago > until);

const now = Date.now();
const opened = await openStorage({ path, migrations });
if (!opened.ok) throw new Error(opened.detail);
await opened.storage.transaction(async (tx) => {
  await saveAgent(tx, createAgentRow(agentId, now - minutes * MINUTE_MS));
  for (let ago = minutes; ago >= 0; ago -= 1) {
    if (isWithin(ago, stopped)) continue;
    const online = new Set(isWithin(ago, away) ? [] : [agentId]);
    await recordOnline(tx, online, now - ago * MINUTE_MS);
  }
});
await opened.storage.close();
