import { delegate, mintToken } from "@agent/client";
import { generateKeyPair } from "@agent/crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { systemRuntime } from "../runtime.ts";
import { startServer, type TestServer } from "../testing/agent.ts";
import { newIdentity } from "../testing/identity.ts";
import { startRelay, type TestRelay } from "../testing/relay.ts";
import { textTool } from "../testing/tools.ts";
import { createTokenCheck } from "./check-token.ts";
import { join, type Membership } from "./join.ts";

const runtime = systemRuntime(silentLog);
const identity = newIdentity();
let relay: TestRelay;
let server: TestServer;
let membership: Membership | undefined;

/** An agent without a socket: only over MCP can the relay bring it work. */
beforeAll(async () => {
  relay = await startRelay();
  const risky = textTool("risky", (text) => ({ ok: true, data: `did ${text}` }), 3);
  const checkToken = createTokenCheck({ identity, membership: () => membership, runtime });
  server = await startServer({ identity, tools: [risky], listedTools: ["risky"] }, checkToken);
  const joined = await join({
    url: relay.url,
    registrationToken: undefined,
    identity,
    profile: {
      name: "quiet",
      description: "",
      agentType: "service",
      capabilities: ["risky"],
      listing: undefined,
    },
    endpointUrl: server.url.href,
    runtime,
  });
  if (!joined.ok) throw new Error(joined.message);
  ({ membership } = joined);
});
afterAll(async () => {
  await server.close();
  await relay.stop();
});

test("work that the home relay brings over MCP, with its own token, is done as trusted", async () => {
  const { agentId } = identity;
  const done = await delegate(relay.master, { agentId, prompt: "it", timeoutMs: 10_000 });
  expect(done).toMatchObject({ ok: true, receipt: { status: "completed", result: "did it" } });
});

test("nobody else is taken for the home relay", async () => {
  const relayId = membership?.relay.relayId ?? "";
  const token = await mintToken({
    agentId: relayId,
    deviceId: relayId,
    secretKey: generateKeyPair().secretKey,
    audience: identity.did,
    scope: ["task:submit"],
    now: Date.now(),
    jti: "1",
  });
  const headers = { authorization: `Bearer agent:${token}` };
  const response = await fetch(server.url, { method: "POST", headers });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ code: "auth.verification_failed" });
});
