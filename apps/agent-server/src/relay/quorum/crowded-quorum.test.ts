import { bootstrapAgent, createRelayClient, mintToken, type RelayClient } from "@agent/client";
import { bytesToHex, generateKeyPair } from "@agent/crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Identity } from "../../identity/identity.ts";
import type { RunningAgent } from "../../start-agent.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { submitForReceipt } from "../../testing/agents/submit-for-receipt.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { callText, callTextTool, connectClient } from "../../testing/tools/connect-client.ts";
import { createTextTool } from "../../testing/tools/test-tools.ts";
import { MAX_QUORUM_PLACES_PER_CALLER, QUORUM_PLACES } from "./pending-calls.ts";

const known = createTestIdentity();
/** An agent of the relay that the owner knows. */
let member: Awaited<ReturnType<typeof newIdentity>>;
const tools = ["free", "priced"].map((name) =>
  createTextTool(name, (text) => ({ ok: true, data: text }), 4),
);

let relay: TestRelay;
let running: RunningAgent;
beforeAll(async () => {
  relay = await startTestRelay();
  member = await newIdentity();
});
afterAll(() => relay.stop());
beforeEach(async () => {
  const approver = createTestIdentity();
  const entryOf = ({ agentId, publicKey }: Pick<Identity, "agentId" | "publicKey">) =>
    [
      agentId,
      { publicKey, caller: { kind: "agent", agentId, trust: "verified" } },
    ] as const satisfies readonly [string, unknown];
  running = await startJoinedAgent({
    relayUrl: relay.url,
    tools,
    env: { AGENT_AUTH_TOKEN: "secret" },
    knownAgents: new Map([entryOf(known), entryOf(member)]),
    file: {
      listing: {
        capabilities: ["free", "priced"],
        pricing: [{ capability: "priced", unit_cost: 0.001 }],
      },
      policy: {
        deny_above: 4,
        quorum: {
          approvers: [{ agent_id: approver.agentId, public_key: approver.publicKey }],
          required: 1,
        },
      },
    },
  });
});
afterEach(() => running.stop());

/** Makes an identity that the relay knows, which costs nothing. */
async function newIdentity() {
  const { secretKey, publicKey } = generateKeyPair();
  const bootstrapped = await bootstrapAgent({ baseUrl: relay.url, secretKey });
  if (!bootstrapped.ok) throw new Error(bootstrapped.message);
  const { identity } = bootstrapped;
  return { ...identity, secretKey, publicKey: bytesToHex(publicKey) };
}

const WAITS = /requires approval \(\S+\), approval_id \S+/;

/** Submits a task for a capability, and returns whether its call waits for the quorum. */
async function submit(client: RelayClient, capability: string, prompt = "it"): Promise<boolean> {
  const { agentId } = running.agent.identity;
  const body = { prompt, required_capabilities: [capability] };
  const result = String((await submitForReceipt(client, agentId, body))["result"]);
  expect(result).toContain("requires approval");
  return WAITS.test(result);
}

async function newSubmitter(): Promise<RelayClient & { readonly agentId: string }> {
  const identity = await newIdentity();
  return {
    ...createRelayClient({ baseUrl: relay.url, identity }),
    agentId: identity.agentId,
  };
}

/** Submits more tasks than one submitter has places, and returns how many of them wait. */
async function fill(client: RelayClient, capability = "free"): Promise<number> {
  const prompts = Array.from(
    { length: MAX_QUORUM_PLACES_PER_CALLER + 1 },
    (_, index) => `${index}`,
  );
  const waiting = await Promise.all(prompts.map((prompt) => submit(client, capability, prompt)));
  return waiting.filter(Boolean).length;
}

test("E12: one submitter of a relay does not fill the places of its other submitters", async () => {
  const honest = await newSubmitter();
  expect(await fill(await newSubmitter())).toBe(MAX_QUORUM_PLACES_PER_CALLER);
  expect(await submit(honest, "free")).toBe(true);
});

test("E12: submitters of free tasks take no places from submitters of paid tasks", async () => {
  const paying = await newSubmitter();
  await relay.operator.deposit({ params: { agentId: paying.agentId }, body: { amount: 0.001 } });
  for (let index = 0; index < 3; index += 1) await fill(await newSubmitter());
  expect(await submit(await newSubmitter(), "free")).toBe(false);
  // A denied task gives its hold back, so the price of one task is enough for several.
  for (const prompt of ["it", "another"]) expect(await submit(paying, "priced", prompt)).toBe(true);
});

async function tokenOf({
  agentId,
  secretKey,
  deviceId = agentId,
}: Pick<Identity, "agentId" | "secretKey"> & { readonly deviceId?: string }): Promise<string> {
  const audience = running.agent.identity.did;
  const claims = { agentId, deviceId, secretKey, audience, scope: [] };
  return `agent:${await mintToken({ ...claims, now: Date.now(), jti: crypto.randomUUID() })}`;
}

test("E13: three new identities fill the places of strangers, and take none of the owner, known agents and paid tasks", async () => {
  const paying = await newSubmitter();
  await relay.operator.deposit({ params: { agentId: paying.agentId }, body: { amount: 1 } });
  const callBy = async (token: string) => callTextTool(running.url, token, "free", "site");
  let waiting = 0;
  for (let index = 0; index < 3; index += 1) {
    const client = await connectClient(running.url, await tokenOf(await newIdentity()));
    for (let call = 0; call <= MAX_QUORUM_PLACES_PER_CALLER; call += 1) {
      if (WAITS.test(await callText(client, "free", { text: String(call) }))) waiting += 1;
    }
    await client.close();
  }
  expect(waiting).toBe(QUORUM_PLACES.unknown);
  expect(await callBy(await tokenOf(await newIdentity()))).toMatch(/requires approval \(\S+\)$/);
  expect(await callBy(await tokenOf(known))).toMatch(WAITS);
  expect(await callBy("secret")).toMatch(WAITS);
  expect(await submit(paying, "priced")).toBe(true);
});

test("E28: new identities that fill the places of free and of paid tasks take none of a submitter whom the owner knows", async () => {
  const deposit = ({ agentId }: { readonly agentId: string }) =>
    relay.operator.deposit({ params: { agentId }, body: { amount: 0.02 } });
  for (const capability of ["free", "priced"]) {
    for (let index = 0; index < 3; index += 1) {
      const stranger = await newSubmitter();
      await deposit(stranger);
      await fill(stranger, capability);
    }
    const other = await newSubmitter();
    await deposit(other);
    expect(await submit(other, capability)).toBe(false);
  }
  const client = createRelayClient({ baseUrl: relay.url, identity: member });
  await deposit(member);
  for (const capability of ["free", "priced"]) {
    expect(await submit(client, capability, "by a member")).toBe(true);
  }
});
