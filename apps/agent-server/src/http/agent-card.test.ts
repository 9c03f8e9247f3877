import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningAgent } from "../start-agent.ts";
import { startStandaloneAgent } from "../testing/agents/start-agent.ts";
import { shoutTool, createTextTool } from "../testing/tools/test-tools.ts";

const listing = { capabilities: ["shout"], pricing: [{ capability: "shout", unit_cost: 0.5 }] };
const path = "/.well-known/agent-card.json";

async function start(options: Parameters<typeof startStandaloneAgent>[0]): Promise<RunningAgent> {
  const started = await startStandaloneAgent(options);
  if (!started.ok) throw new Error(started.faults.join("; "));
  return started.running;
}

const cardOf = (running: RunningAgent, init: RequestInit = {}) =>
  fetch(new URL(path, running.url), {
    headers: { authorization: "Bearer secret" },
    ...init,
  });

let running: RunningAgent;
beforeAll(async () => {
  running = await start({
    tools: [shoutTool, createTextTool("whisper", () => ({ ok: true, data: "" }))],
    file: { name: "Shouter", description: "Says it louder", listing },
  });
});
afterAll(() => running.stop());

describe("the agent card", () => {
  test("the official A2A client reads every required member of the agent card", async () => {
    const asOwner: typeof fetch = (input) =>
      fetch(input, { headers: { authorization: "Bearer secret" } });
    const resolver = new DefaultAgentCardResolver({ fetchImpl: asOwner });
    expect(await resolver.resolve(new URL("/", running.url).href)).toMatchObject({
      name: "Shouter",
      description: "Says it louder",
      version: "0.0.0",
      supportedInterfaces: [{ url: running.url, protocolVersion: "1.0" }],
      capabilities: { streaming: false, pushNotifications: false },
      defaultInputModes: ["application/json"],
      defaultOutputModes: ["text/plain"],
      skills: [
        { id: "shout", name: "shout", description: "Test tool shout", tags: ["tool", "listed"] },
      ],
      securitySchemes: {
        bearer: { scheme: { $case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } },
      },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    });
  });

  test("the agent card states prices and the agent's id in an extension", async () => {
    const { agentId, did } = running.agent.identity;
    const { capabilities } = (await (await cardOf(running)).json()) as {
      capabilities: { extensions: unknown[] };
    };
    expect(capabilities.extensions).toMatchObject([
      {
        required: false,
        params: {
          agent_id: agentId,
          did,
          pricing: [{ capability: "shout", unit_cost: 0.5, currency: "USD", per: "task" }],
        },
      },
    ]);
  });

  test("the agent card requires a token and states so", async () => {
    expect(await (await cardOf(running)).json()).toHaveProperty("securityRequirements");
    expect((await cardOf(running, { headers: {} })).status).toBe(401);
  });

  test("the agent card of an open server requires no authentication", async () => {
    const open = await start({ env: {}, args: ["--allow-anonymous"] });
    const response = await cardOf(open, { headers: {} });
    expect(response.status).toBe(200);
    expect(await response.json()).not.toHaveProperty("securitySchemes");
    await open.stop();
  });

  test("the agent card names the public URL if there is one", async () => {
    const far = await start({ file: { publicUrl: "https://agent.example/base" } });
    expect(await (await cardOf(far)).json()).toMatchObject({
      supportedInterfaces: [{ url: "https://agent.example/base/mcp" }],
    });
    await far.stop();
  });

  test("the agent card allows only reading methods", async () => {
    expect((await cardOf(running, { method: "HEAD" })).status).toBe(200);
    const posted = await cardOf(running, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
