import { bootstrapAgent, createRelayClient, mintToken, type RelayClient } from "@agent/client";
import { generateKeyPair } from "@agent/crypto";
import { signDelegationToken } from "@agent/receipts";
import { afterEach, describe, expect, test } from "vitest";
import { createSignedTokenCheck } from "../../http/authentication/check-signed-token.ts";
import type { Identity } from "../../identity/identity.ts";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import type { RunningAgent } from "../../start-agent.ts";
import { awaitReceipt } from "../../testing/agents/await-receipt.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startJoinedAgent, type TestAgentOptions } from "../../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createTextTool } from "../../testing/tools/test-tools.ts";
import { createFindSigner } from "./find-signer.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** A relay with the limits of every relay, to which a test's friends have an address of their own. */
async function startLimitedRelay(): Promise<TestRelay> {
  const env = { AGENT_RATE_LIMIT_SCALE: "1", AGENT_TRUSTED_PROXIES: "127.0.0.1" };
  const relay = await startTestRelay(0, env);
  stops.push(relay.stop);
  return relay;
}

/** An agent server whose own work leaves nearly all of the relay's limit to its callers. */
async function startWorker(options: TestAgentOptions): Promise<RunningAgent> {
  const write = createTextTool("write", (text) => ({ ok: true, data: `wrote ${text}` }));
  const file = { syncIntervalMs: 60_000 };
  const running = await startJoinedAgent({ tools: [write], file, ...options });
  stops.push(running.stop);
  return running;
}

interface Friend extends Identity {
  readonly deviceId: string;
  readonly client: RelayClient;
}

async function newFriend(relay: TestRelay): Promise<Friend> {
  const identity = createTestIdentity("friend");
  const runtime = createSystemRuntime(silentLog);
  const known = await bootstrapAgent({ ...runtime, ...identity, baseUrl: relay.url });
  if (!known.ok) throw new Error(known.message);
  const client = createRelayClient({
    baseUrl: relay.url,
    identity: known.identity,
    fetch(input, init) {
      const request = new Request(input, init);
      request.headers.set("x-forwarded-for", "192.0.2.1");
      return fetch(request);
    },
  });
  return { ...identity, deviceId: known.identity.deviceId, client };
}

interface TokenSigner {
  readonly agentId: string;
  readonly deviceId: string;
  readonly secretKey: Uint8Array;
}

const newJunkSigner = (): TokenSigner => ({
  agentId: crypto.randomUUID(),
  deviceId: crypto.randomUUID(),
  secretKey: generateKeyPair().secretKey,
});

const mintFor = (audience: string, signer: TokenSigner, now = Date.now()) =>
  mintToken({ ...signer, audience, scope: [], now, jti: crypto.randomUUID() });

async function send(
  { url, agent }: RunningAgent,
  signer: TokenSigner,
  forwardedFor?: string,
): Promise<Response> {
  const token = await mintFor(agent.identity.did, signer);
  return fetch(url ?? "", {
    method: "DELETE",
    headers: {
      authorization: `Bearer agent:${token}`,
      ...(forwardedFor !== undefined && { "x-forwarded-for": forwardedFor }),
    },
  });
}

/** Sends 60 tokens by unknown agents; returns the answers. */
function flood(
  running: RunningAgent,
  forwardedFor?: (index: number) => string,
): Promise<Response[]> {
  const indexes = Array.from({ length: 60 }, (_, index) => index);
  return Promise.all(indexes.map((index) => send(running, newJunkSigner(), forwardedFor?.(index))));
}

/** Submits a task under a token of the friend; returns its id. */
async function submitUnderToken(friend: Friend, { agent }: RunningAgent): Promise<string> {
  const { agentId } = agent.identity;
  const token = signDelegationToken(
    {
      token_id: crypto.randomUUID(),
      issuer_agent_id: friend.agentId,
      issuer_public_key: friend.publicKey,
      delegate_agent_id: agentId,
      scope: "write",
      not_before: Date.now() - 1_000,
      expires_at: Date.now() + 600_000,
    },
    friend.secretKey,
  );
  const body = { prompt: "it", delegation_token: { ...token } };
  const submitted = await friend.client.submitTask({ params: { agentId }, body });
  if (!submitted.ok) throw new Error(submitted.message);
  return submitted.body.task_id;
}

async function resultOf({ client }: Friend, { agent }: RunningAgent, taskId: string) {
  const { receipt } = await awaitReceipt(client, { agentId: agent.identity.agentId, taskId });
  return { status: receipt["status"], result: receipt["result"] };
}

describe("E8: a flood of junk tokens", () => {
  test("E8: a flood of junk tokens leaves the agent its relay, its callers and its tasks", async () => {
    const relay = await startLimitedRelay();
    const friend = await newFriend(relay);
    const running = await startWorker({ relayUrl: relay.url });
    // 400 is the answer of MCP to an accepted caller that names no session.
    expect((await send(running, friend)).status).toBe(400);

    const answers = await flood(running);
    expect((await send(running, friend)).status).toBe(400);
    const taskId = await submitUnderToken(friend, running);
    expect(await resultOf(friend, running, taskId)).toEqual({
      status: "completed",
      result: "wrote it",
    });

    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(9);
    expect(statuses.filter((status) => status === 503)).toHaveLength(51);
    const busy = answers.find(({ status }) => status === 503);
    expect(Number(busy?.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(await busy?.json()).toMatchObject({ code: "auth.lookup_unavailable" });
  });

  test("E8: known and new callers are let in during and after a flood", async () => {
    const relay = await startLimitedRelay();
    const [friend, known, late] = [
      await newFriend(relay),
      await newFriend(relay),
      await newFriend(relay),
    ];
    let now = Date.now();
    const runtime = { now: () => now };
    const membership = {
      client: friend.client,
      deviceId: friend.deviceId,
      relay: { relayId: "relay", publicKey: "" },
    };
    const { did, agentId } = friend;
    const findSigner = createFindSigner({ agentId, membership: () => membership, runtime });
    const check = createSignedTokenCheck({ identity: { did }, findSigner, runtime });
    const sendFrom = async (network: string, signer: TokenSigner) =>
      check(await mintFor(did, signer, now), network);
    const floodFrom = async (network: string) => {
      for (let i = 0; i < 30; i += 1) await sendFrom(network, newJunkSigner());
    };
    const refused = { ok: false, code: "auth.lookup_unavailable" };

    expect(await sendFrom("a", known)).toMatchObject({ ok: true });
    await floodFrom("a");
    expect(await sendFrom("a", known)).toMatchObject({ ok: true });
    // By now what was found about the known caller is too old, and is looked up again.
    now += 60_000;
    await floodFrom("a");
    expect(await sendFrom("a", known)).toMatchObject({ ok: true });
    expect(await sendFrom("a", late)).toMatchObject(refused);
    expect(await sendFrom("b", late)).toMatchObject({ ok: true });
    now += 60_000;
    expect(await sendFrom("a", late)).toMatchObject({ ok: true });
  });
});

describe("E11: the client of a token behind a proxy", () => {
  /** An agent server that trusts these proxies, of which this test is the one on 127.0.0.1. */
  async function startBehind(trustedProxies: string): Promise<[RunningAgent, Friend, Friend]> {
    const relay = await startLimitedRelay();
    const env = trustedProxies === "" ? {} : { AGENT_TRUSTED_PROXIES: trustedProxies };
    const running = await startWorker({ relayUrl: relay.url, env });
    return [running, await newFriend(relay), await newFriend(relay)];
  }
  // 400 is the answer of MCP to an accepted caller that names no session, 503 that of one to come back later.
  const [accepted, refused] = [400, 503];

  test.each([
    ["an address of IPv4", () => "203.0.113.9"],
    ["addresses of one IPv6 network", (index: number) => `2001:db8:1:2::${index}`],
    ["a client that invents entries", (index: number) => `198.51.100.${index}, 203.0.113.9`],
    ["a mapped address", (index: number) => `${index}, ::ffff:203.0.113.9`],
  ])(
    "E11: a flood through a trusted proxy by %s leaves room for newcomers",
    async (_, forwardedFor) => {
      const [running, newcomer, late] = await startBehind("127.0.0.1");
      await flood(running, forwardedFor);
      expect((await send(running, late, forwardedFor(0))).status).toBe(refused);
      expect((await send(running, newcomer, "192.0.2.50")).status).toBe(accepted);
    },
  );

  test("E11: a flood from five networks of one connection leaves room for newcomers, also from a neighbouring network", async () => {
    const [running, newcomer, neighbour] = await startBehind("127.0.0.1");
    // One after the other, because each network gets a part of what the ones before it left.
    for (let host = 1; host <= 5; host += 1) {
      await flood(running, () => `2001:db8:1:20${host}::1`);
    }
    expect((await send(running, neighbour, "2001:db8:1:301::1")).status).toBe(accepted);
    expect((await send(running, newcomer, "2001:db8:2:1::1")).status).toBe(accepted);
  });

  test.each([
    ["without a trusted proxy", "", (index: number) => `198.51.100.${index}`],
    ["from a proxy that is not trusted", "10.0.0.0/8", (index: number) => `198.51.100.${index}`],
    ["where its last entry is malformed", "127.0.0.1", (index: number) => `198.51.100.1, ${index}`],
    ["where it names only proxies", "127.0.0.0/8", (index: number) => `127.0.0.${index}`],
  ])("E11: X-Forwarded-For is not believed %s", async (_, trustedProxies, forwardedFor) => {
    const [running, newcomer] = await startBehind(trustedProxies);
    const answers = await flood(running, forwardedFor);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect((await send(running, newcomer, forwardedFor(99))).status).toBe(refused);
  });
});

describe("E9: a task whose issuer cannot be looked up", () => {
  test.each<[string, () => Promise<Response>]>([
    [
      "says that it is too busy",
      async () =>
        Response.json(
          { code: "rate.exceeded", message: "", status: 429 },
          { status: 429, headers: { "retry-after": "1" } },
        ),
    ],
    ["fails", async () => new Response("oops", { status: 502 })],
    ["answers without sense", async () => Response.json({})],
    ["is gone", () => Promise.reject(new TypeError("no connection"))],
  ])("E9: a task under a token gets no receipt while the relay %s", async (_, answer) => {
    const relay = await startTestRelay();
    stops.push(relay.stop);
    const friend = await newFriend(relay);
    let asked = 0;
    let isLost = true;
    const running = await startWorker({
      relayUrl: relay.url,
      file: { syncIntervalMs: 100 },
      fetch: async (input, init) => {
        const { url } = new Request(input, init);
        if (!isLost || !url.endsWith(`/agents/${friend.agentId}`)) return fetch(input, init);
        asked += 1;
        return answer();
      },
    });
    const taskId = await submitUnderToken(friend, running);
    await expect.poll(() => asked, { timeout: 5_000 }).toBeGreaterThan(1);
    const params = { agentId: running.agent.identity.agentId, taskId };
    const open = await friend.client.getTask({ params, query: {} });
    expect(open.ok && open.body.receipt).toBeNull();
    isLost = false;
    expect(await resultOf(friend, running, taskId)).toEqual({
      status: "completed",
      result: "wrote it",
    });
  });
});
