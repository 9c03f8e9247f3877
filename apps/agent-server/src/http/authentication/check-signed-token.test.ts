import { mintToken } from "@agent/client";
import { generateKeyPair } from "@agent/crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { createTextTool, shoutTool } from "../../testing/tools/test-tools.ts";
import type { RunningAgent } from "../../start-agent.ts";
import { createSignedTokenCheck, type Signer } from "./check-signed-token.ts";

let relay: TestRelay;
let server: RunningAgent;
let stranger: RunningAgent;

beforeAll(async () => {
  relay = await startTestRelay();
  const writing = createTextTool("writing", () => ({ ok: true, data: "written" }), 2);
  server = await startJoinedAgent({ relayUrl: relay.url, tools: [shoutTool, writing] });
  stranger = await startJoinedAgent({ relayUrl: relay.url });
});
afterAll(async () => {
  await server.stop();
  await stranger.stop();
  await relay.stop();
});

type Mint = Parameters<typeof mintToken>[0];

/** A token of the stranger for the server, with the changes of a case. */
function tokenOf(change: Partial<Mint> = {}): Promise<string> {
  const { agentId, secretKey } = stranger.agent.identity;
  return mintToken({
    agentId,
    deviceId: stranger.relayLink?.deviceId() ?? "",
    secretKey,
    audience: server.agent.identity.did,
    scope: [],
    now: Date.now(),
    jti: crypto.randomUUID(),
    ...change,
  });
}

async function statusWith(token: string): Promise<number> {
  const headers = { authorization: `Bearer agent:${token}` };
  return (await fetch(server.url ?? "", { method: "DELETE", headers })).status;
}

async function callWith(token: string, name: string, args: Record<string, unknown>) {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  const requestInit = { headers: { authorization: `Bearer agent:${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(server.url ?? ""), { requestInit }),
  );
  const result = await client.callTool({ name, arguments: args });
  await client.close();
  const [block] = result.content as { text: string }[];
  return block?.text ?? "";
}

describe("an agent's signed token", () => {
  test("a signed token authenticates an agent that the server did not know", async () => {
    expect(await callWith(await tokenOf(), "shout", { text: "hi" })).toBe("HI");
    expect(await callWith(await tokenOf(), "writing", { text: "" })).toMatch(/^Governance: /);
    expect(await callWith(await tokenOf(), "agent_task", { prompt: "p" })).toMatch(/^Governance: /);
  });

  test.each<[string, () => Partial<Mint>]>([
    ["meant for another agent", () => ({ audience: stranger.agent.identity.did })],
    ["signed by another key", () => ({ secretKey: generateKeyPair().secretKey })],
    ["of an unknown device", () => ({ deviceId: crypto.randomUUID() })],
    ["of another agent's device", () => ({ deviceId: server.relayLink?.deviceId() ?? "" })],
    ["of an unknown agent", () => ({ agentId: createTestIdentity().agentId })],
    ["that is too old", () => ({ now: Date.now() - 301_000 })],
    ["from the future", () => ({ now: Date.now() + 302_000 })],
    ["that claims to be the relay's", () => ({ agentId: relayId(), deviceId: relayId() })],
  ])("a signed token %s gets 401", async (_, change) => {
    expect(await statusWith(await tokenOf())).toBe(400);
    expect(await statusWith(await tokenOf(change()))).toBe(401);
  });

  test.each(["x", "x.y.z", ""])("a malformed token (%s) gets 401", async (token) => {
    expect(await statusWith(token)).toBe(401);
  });
});

function relayId(): string {
  return server.relayLink?.membership()?.relay.relayId ?? "";
}

describe("a token that was verified before", () => {
  const identity = createTestIdentity();
  const caller = { kind: "agent", agentId: identity.agentId, trust: "verified" } as const;
  let now = 1_760_000_000_000;
  let signer: Signer | null = null;
  const check = createSignedTokenCheck({
    identity: { did: "did:key:z6Mk" },
    findSigner: async () => signer,
    runtime: { now: () => now },
  });
  const mint = () =>
    mintToken({ ...identity, deviceId: "d", audience: "did:key:z6Mk", scope: [], now, jti: "j" });

  test("a verified token is accepted again according to its signer's current state", async () => {
    signer = { publicKey: identity.publicKey, caller };
    const token = await mint();
    expect(await check(token)).toEqual({ ok: true, caller });
    const blocked = { ...caller, trust: "blocked" } as const;
    signer = { publicKey: identity.publicKey, caller: blocked };
    expect(await check(token)).toEqual({ ok: true, caller: blocked });
    signer = { publicKey: createTestIdentity().publicKey, caller };
    expect(await check(token)).toMatchObject({ code: "auth.verification_failed" });
    signer = null;
    expect(await check(token)).toMatchObject({ code: "auth.unknown_caller" });
  });

  test("a verified token expires at its time", async () => {
    signer = { publicKey: identity.publicKey, caller };
    const token = await mint();
    expect(await check(token)).toMatchObject({ ok: true });
    now += 299_000;
    expect(await check(token)).toMatchObject({ ok: true });
    now += 1_000;
    expect(await check(token)).toMatchObject({ code: "auth.expired_token" });
  });
});
