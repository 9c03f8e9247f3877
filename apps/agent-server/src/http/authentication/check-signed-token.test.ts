import { mintToken } from "@agent/client";
import { generateKeyPair } from "@agent/crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { createTextTool, shoutTool } from "../../testing/tools/test-tools.ts";
import type { RunningAgent } from "../../start-agent.ts";
import type { Caller } from "../../caller.ts";
import {
  buildFoundLookup,
  buildUnavailableLookup,
  unknownLookup,
  type Lookup,
} from "../../lookup.ts";
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
  const audience = "did:key:z6Mk";
  let now = 1_760_000_000_000;
  let signer: Lookup<Signer> = unknownLookup;
  const origins: unknown[] = [];
  const check = createSignedTokenCheck({
    identity: { did: audience },
    findSigner: async (_ids, origin) => {
      origins.push(origin);
      return signer;
    },
    runtime: { now: () => now },
  });
  const mint = (change: Partial<Mint> = {}) =>
    mintToken({ ...identity, deviceId: "d", audience, scope: [], now, jti: "j", ...change });
  const signedBy = (publicKey: string, found: Lookup<Caller>) =>
    buildFoundLookup({ publicKey, findCaller: async () => found });

  test("a verified token is accepted again according to its signer's current state", async () => {
    signer = signedBy(identity.publicKey, buildFoundLookup(caller));
    const token = await mint();
    expect(await check(token, "n")).toEqual({ ok: true, caller });
    const blocked = { ...caller, trust: "blocked" } as const;
    signer = signedBy(identity.publicKey, buildFoundLookup(blocked));
    expect(await check(token, "n")).toEqual({ ok: true, caller: blocked });
    signer = signedBy(createTestIdentity().publicKey, buildFoundLookup(caller));
    expect(await check(token, "n")).toMatchObject({ code: "auth.verification_failed" });
    signer = unknownLookup;
    expect(await check(token, "n")).toMatchObject({ code: "auth.unknown_caller" });
  });

  test("a verified token expires at its time", async () => {
    signer = signedBy(identity.publicKey, buildFoundLookup(caller));
    const token = await mint();
    expect(await check(token, "n")).toMatchObject({ ok: true });
    now += 299_000;
    expect(await check(token, "n")).toMatchObject({ ok: true });
    now += 1_000;
    expect(await check(token, "n")).toMatchObject({ code: "auth.expired_token" });
  });

  test("E9: a signer that cannot be looked up is asked to come back, and never called unknown", async () => {
    const unavailable = buildUnavailableLookup(7);
    const expected = { ok: false, code: "auth.lookup_unavailable", retryAfterSeconds: 7 };
    for (const answer of [unavailable, signedBy(identity.publicKey, unavailable)]) {
      signer = answer;
      expect(await check(await mint(), "n")).toEqual(expected);
    }
  });

  test("E8: a token that no key can make valid costs no look-up", async () => {
    origins.length = 0;
    const useless = [{ audience: "did:key:other" }, { now: now - 400_000 }, { now: now + 400_000 }];
    for (const change of useless) {
      expect(await check(await mint(change), "n")).toMatchObject({ ok: false });
    }
    expect(origins).toEqual([]);
  });

  test("E8: only tokens by a key that verified one before are looked up as proven", async () => {
    const other = createTestIdentity();
    const { agentId } = other;
    const { secretKey } = createTestIdentity();
    signer = signedBy(other.publicKey, buildFoundLookup(caller));
    origins.length = 0;
    await check(await mint({ ...other, jti: "1" }), "n");
    await check(await mint({ ...other, jti: "2" }), "n");
    await check(await mint({ agentId, secretKey, jti: "3" }), "n");
    await check(await mint({ ...other, jti: "4" }), "n");
    const proofs = origins.map((origin) => (origin as { isProven: boolean }).isProven);
    expect(proofs).toEqual([false, true, false, true]);
  });

  test("E8: the caller behind a key is not looked up for a forged token", async () => {
    let asked = 0;
    signer = buildFoundLookup({
      publicKey: createTestIdentity().publicKey,
      findCaller: async () => {
        asked += 1;
        return buildFoundLookup(caller);
      },
    });
    expect(await check(await mint(), "n")).toMatchObject({ code: "auth.verification_failed" });
    expect(asked).toBe(0);
  });
});
