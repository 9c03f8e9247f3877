import { bootstrapAgent, createRelayClient, mintToken, type RelayClient } from "@agent/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KnownAgents } from "../http/authentication/known-agents.ts";
import type { Identity } from "../identity/identity.ts";
import type { RunningAgent } from "../start-agent.ts";
import { startJoinedAgent, startStandaloneAgent } from "../testing/agents/start-agent.ts";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { submitForReceipt } from "../testing/agents/submit-for-receipt.ts";
import { startTestRelay } from "../testing/agents/test-relay.ts";
import { callText, callTextTool, connectClient } from "../testing/tools/connect-client.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";

const CALLS = 50;
const flood = Array.from({ length: 20 }, (_, index) => createTestIdentity(`flood ${index}`));
const [honest, known] = [createTestIdentity("honest"), createTestIdentity("known")];
const deploy = createTextTool("deploy", (text) => ({ ok: true, data: `deployed ${text}` }), 3);
const WAITS = /requires approval \(R3_EXECUTE\), approval_id (\S+)$/;

let running: RunningAgent;
beforeAll(async () => {
  const entryOf = ({ agentId, publicKey }: Identity, trust: "unknown" | "verified") =>
    [agentId, { publicKey, caller: { kind: "agent", agentId, trust } }] as const;
  const knownAgents: KnownAgents = new Map([
    ...[...flood, honest].map((each) => entryOf(each, "unknown")),
    entryOf(known, "verified"),
  ]);
  const started = await startStandaloneAgent({ tools: [deploy], knownAgents });
  if (!started.ok) throw new Error(started.faults.join("; "));
  ({ running } = started);
});
afterAll(() => running.stop());

async function tokenOf({ agentId, secretKey }: Identity): Promise<string> {
  const audience = running.agent.identity.did;
  const claims = { agentId, deviceId: agentId, secretKey, audience, scope: [] };
  return `agent:${await mintToken({ ...claims, now: Date.now(), jti: crypto.randomUUID() })}`;
}

async function floodFrom(each: Identity): Promise<void> {
  const client = await connectClient(running.url, await tokenOf(each));
  for (let call = 0; call < CALLS; call += 1) await callText(client, "deploy", { text: `${call}` });
  await client.close();
}

test("an agent server asks its owner about the calls of the owner and of other agents when 20 strangers have asked for 50 each", async () => {
  await Promise.all(flood.map(floodFrom));
  expect(running.agent.approvals.list()).toHaveLength(flood.length * CALLS);
  const callBy = async (token: string) => callTextTool(running.url, token, "deploy", "site");
  for (const each of [known, honest]) expect(await callBy(await tokenOf(each))).toMatch(WAITS);

  const asked = await callBy("secret");
  expect(asked).toMatch(WAITS);
  const decided = await fetch(new URL(`/approvals/${WAITS.exec(asked)?.[1]}`, running.url), {
    method: "POST",
    headers: { authorization: "Bearer secret", "content-type": "application/json" },
    body: JSON.stringify({ decision: "approve" }),
  });
  expect(decided.status).toBe(200);
  await floodFrom(flood[0]!);
  expect(await callBy("secret")).toBe("deployed site");
});

test("an agent server keeps the waiting call of one submitter when another submits 51 tasks, and runs it for that one once approved", async () => {
  const relay = await startTestRelay();
  const joined = await startJoinedAgent({ relayUrl: relay.url, tools: [deploy] });
  const { identity, approvals } = joined.agent;
  const join = async ({ secretKey }: Identity): Promise<RelayClient> => {
    const known = await bootstrapAgent({ baseUrl: relay.url, secretKey });
    if (!known.ok) throw new Error(known.message);
    return createRelayClient({ baseUrl: relay.url, identity: known.identity });
  };
  const runTask = async (client: RelayClient, prompt: string) => {
    const receipt = await submitForReceipt(client, identity.agentId, { prompt });
    return String(receipt["result"]);
  };

  const [submitter, other] = [await join(honest), await join(flood[0]!)];
  const asked = await runTask(submitter, "site");
  for (let count = 0; count < 51; count += 1) await runTask(other, `other ${count}`);
  expect(approvals.list()).toHaveLength(51);
  const approvalId = /approval_id (\S+)/.exec(asked)?.[1] ?? "";
  expect(await approvals.decide(approvalId, "approved")).toMatchObject({ ok: true });
  expect(await runTask(other, "site")).not.toContain("deployed");
  expect(await runTask(submitter, "site")).toContain("deployed site");
  await joined.stop();
  await relay.stop();
});
