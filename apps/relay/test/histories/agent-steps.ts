import { createRotation } from "../agents/rotation.ts";
import type { Party } from "./facts.ts";
import { chooseAmount, chooseFrom, type HistoryRelay } from "./history-relay.ts";
import type { HistoryStep, Picks } from "./history-step.ts";
import { listTasks } from "./list-tasks.ts";

/** Publishes a listing with a price, an offer of inspections and arbiters. */
export async function putListing(
  relay: HistoryRelay,
  agent: Party,
  [, price, others, offer]: Picks,
): Promise<void> {
  const rest = relay.facts.parties.filter(({ agentId }) => agentId !== agent.agentId);
  const arbiters = others % 3 === 0 ? [] : rest.slice(0, 3).map(({ agentId }) => agentId);
  await relay.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
    capabilities: ["summarise"],
    pricing: [
      { capability: "summarise", unit_cost: price % 20 === 3 ? 0 : chooseAmount(price, 3_000_000) },
    ],
    ...(offer % 7 !== 0 && { acceptance: { window_ms: 60_000, arbiters } }),
    arbitrates: others % 5 !== 1,
  });
}

/** Creates an agent that sells work with an inspection. */
export async function createParty(relay: HistoryRelay): Promise<void> {
  const agent = await relay.t.createAgent();
  // A frozen relay refuses it.
  if (agent.deviceId === undefined) return;
  const party: Party = { ...agent, former: null, revoked: false };
  relay.facts.parties.push(party);
  await putListing(relay, party, [0, 900_000 + 100_000 * relay.facts.parties.length, 2, 1]);
}

/** Changes a price, an offer of inspections and the arbiters. */
const changeListing: HistoryStep = (relay, picks) =>
  putListing(relay, relay.chooseParty(picks[0]), picks);

const rotateKey: HistoryStep = async (relay, [who]) => {
  const agent = relay.chooseParty(who);
  const { next, succession } = createRotation(relay.t, agent);
  const path = `/api/v1/agents/${agent.agentId}/rotate-key`;
  const { status } = await relay.as(agent, "POST", path, { succession });
  if (status === 200) relay.replaceParty({ ...agent, ...next, former: agent });
};

/** Revokes an agent, which another one replaces. */
const revokeAgent: HistoryStep = async (relay, [who, by]) => {
  const agent = relay.chooseParty(who);
  const request = ["POST", `/api/v1/agents/${agent.agentId}/revoke`, { reason: "lost" }] as const;
  const { status } = await (by % 2 === 0
    ? relay.asOperator(...request)
    : relay.as(agent, ...request));
  if (status !== 200) return;
  relay.replaceParty({ ...agent, revoked: true });
  await createParty(relay);
};

/** Blocks an agent of this relay or of a peer. */
const blockAgent: HistoryStep = async (relay, [who, whom]) => {
  const [agent, other] = [relay.chooseParty(who), relay.chooseWorker(whom)];
  const path = `/api/v1/agents/${agent.agentId}/trust/${other.agentId}`;
  await relay.as(agent, "PUT", path, { trust_level: "blocked" });
};

const freezeRelay: HistoryStep = (relay, [kind]) =>
  kind % 3 === 0
    ? relay.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" })
    : relay.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });

const eraseTexts: HistoryStep = async (relay, [which]) => {
  const task = chooseFrom(await listTasks(relay, "1 = 1"), which);
  if (task === undefined) return;
  await relay.asOperator("DELETE", `/api/v1/admin/tasks/${task.task_id}/texts`);
};

export const agentSteps = {
  changeListing,
  rotateKey,
  revokeAgent,
  blockAgent,
  freezeRelay,
  eraseTexts,
} satisfies Record<string, HistoryStep>;
