import { bootstrapAgent } from "@agent/client";
import {
  attenuateDelegationToken,
  type DelegationToken,
  type DelegationTokenBody,
  signDelegationToken,
  verifyReceipt,
} from "@agent/receipts";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Identity } from "./identity/identity.ts";
import { silentLog } from "./log.ts";
import { createSystemRuntime } from "./runtime.ts";
import type { RunningAgent } from "./start-agent.ts";
import { createTestIdentity } from "./testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

const [worker, issuer, middle, stranger] = [
  createTestIdentity("worker"),
  createTestIdentity("issuer"),
  createTestIdentity("middle"),
  createTestIdentity("stranger"),
];
const authToken = "test-token-of-the-owner-0123456789";
const now = Date.now();
let ran: string[] = [];
let relay: TestRelay;
let running: RunningAgent;
let client: Client;

const noting = (name: string) =>
  createTextTool(name, (text) => {
    ran.push(name);
    return { ok: true, data: `${name} ${text}` };
  });

/** A real agent at a real relay that knows all of the agents except the stranger. */
beforeAll(async () => {
  relay = await startTestRelay();
  for (const { agentId, secretKey } of [issuer, middle]) {
    const known = await bootstrapAgent({
      ...createSystemRuntime(silentLog),
      baseUrl: relay.url,
      agentId,
      secretKey,
    });
    if (!known.ok) throw new Error(known.message);
  }
  running = await startJoinedAgent({
    relayUrl: relay.url,
    identity: worker,
    tools: [noting("read"), noting("write"), noting("erase")],
    env: { AGENT_AUTH_TOKEN: authToken },
  });
  client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${authToken}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(running.url ?? ""), { requestInit }),
  );
});
afterAll(async () => {
  await client.close();
  await running.stop();
  await relay.stop();
});
beforeEach(() => {
  ran = [];
});

function tokenOf(change: Partial<DelegationTokenBody> = {}, by: Identity = issuer) {
  return signDelegationToken(
    {
      token_id: "root",
      issuer_agent_id: by.agentId,
      issuer_public_key: by.publicKey,
      delegate_agent_id: worker.agentId,
      scope: "write, read",
      not_before: now - 1_000,
      expires_at: now + 3_600_000,
      ...change,
    },
    by.secretKey,
  );
}

async function ask(token: DelegationToken | string, tool?: string) {
  const result = (await client.callTool({
    name: "agent_task",
    arguments: {
      prompt: "it",
      delegation_token: typeof token === "string" ? token : JSON.stringify(token),
      ...(tool !== undefined && { required_capabilities: [tool] }),
    },
  })) as unknown as { content: { text: string }[] };
  const receipt = JSON.parse(result.content[0]?.text ?? "") as Record<string, unknown>;
  expect(verifyReceipt(receipt, { publicKey: worker.publicKey }).valid).toBe(true);
  return receipt;
}

describe("a tool under a delegation token", () => {
  test.each([["read"], ["write"]])(
    "a tool runs when the token's scope names it (%s)",
    async (tool) => {
      expect(await ask(tokenOf(), tool)).toMatchObject({
        status: "completed",
        tools_used: [tool],
        delegated_scope: "read,write",
      });
      expect(ran).toEqual([tool]);
    },
  );

  test("a tool runs again under the same token, which is not used up", async () => {
    const token = tokenOf();
    await ask(token, "read");
    expect(await ask(token, "read")).toMatchObject({ status: "completed" });
    expect(ran).toEqual(["read", "read"]);
  });

  test("a tool runs under a token that the agent issued to itself", async () => {
    expect(await ask(tokenOf({}, worker), "read")).toMatchObject({ status: "completed" });
  });

  test.each<[string, string, string | undefined]>([
    ["is not in the scope and is required", "read", "erase"],
    ["is not in the scope and is the agent's choice", "write", undefined],
    ["is called under an empty scope", "", undefined],
  ])("a tool does not run when it %s", async (_, scope, tool) => {
    const receipt = await ask(tokenOf({ scope }), tool);
    expect(receipt).toMatchObject({ status: "denied", tools_used: [], delegated_scope: scope });
    expect(ran).toEqual([]);
  });
});

describe("nothing runs under a token", () => {
  const impostor = { ...stranger, agentId: issuer.agentId };
  test.each<[string, string, () => DelegationToken | string]>([
    ["that is malformed JSON", "malformed", () => "{"],
    ["that is empty", "malformed", () => ""],
    ["of more than 64 KiB", "malformed", () => tokenOf({ scope: "read,".repeat(14_000) })],
    [
      "that expired",
      "expired",
      () => tokenOf({ not_before: now - 2_000, expires_at: now - 1_000 }),
    ],
    ["that begins later", "not_yet_valid", () => tokenOf({ not_before: now + 60_000 })],
    [
      "for another delegate",
      "wrong_delegate",
      () => tokenOf({ delegate_agent_id: stranger.agentId }),
    ],
    ["changed after it was signed", "signature_invalid", () => ({ ...tokenOf(), scope: "erase" })],
    ["of an issuer that is unknown", "key_unbound", () => tokenOf({}, stranger)],
    ["under a key that is not the issuer's", "key_unbound", () => tokenOf({}, impostor)],
  ])("no tool runs under a token %s", async (_, code, make) => {
    const receipt = await ask(make(), "read");
    expect(receipt).toMatchObject({ status: "denied", tools_used: [] });
    expect(receipt["result"]).toContain(`delegation.${code}`);
    expect(receipt).not.toHaveProperty("delegated_scope");
    expect(ran).toEqual([]);
  });
});

describe("a token that was passed on", () => {
  const passed = (scope: string, holder: Identity = middle) =>
    attenuateDelegationToken(
      tokenOf({ delegate_agent_id: middle.agentId }),
      { token_id: "child", delegate_agent_id: worker.agentId, scope },
      holder,
    );

  test("a chain of tokens allows only what each of its tokens allows", async () => {
    expect(await ask(passed("read"), "read")).toMatchObject({
      status: "completed",
      delegated_scope: "read",
    });
    expect(await ask(passed("read"), "write")).toMatchObject({ status: "denied" });
    expect(ran).toEqual(["read"]);
  });

  test.each<[string, string, DelegationToken]>([
    ["wider than its parent", "widened", passed("read,erase")],
    ["by an agent that it was not given to", "key_unbound", passed("read", stranger)],
  ])("a token that was passed on %s is refused", async (_, code, token) => {
    expect(await ask(token, "read")).toMatchObject({
      status: "denied",
      result: `The delegation token is refused (delegation.${code})`,
    });
    expect(ran).toEqual([]);
  });
});
