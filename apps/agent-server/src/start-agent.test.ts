import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { startStandaloneAgent, startTestAgent } from "./testing/agents/start-agent.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";
import { listSyntheticToolNames } from "./tools/index.ts";

let onCalled = () => {};
const slow = createTextTool("slow", async (text) => {
  onCalled();
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { ok: true, data: text };
});

async function connect(url: string | undefined, mode: "auto" | "legacy") {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: "Bearer secret" } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url ?? ""), { requestInit }));
  return client;
}

describe("an agent that stops", () => {
  test.each(["auto", "legacy"] as const)(
    "a stopping agent finishes its calls and answers them before it closes (%s)",
    async (mode) => {
      const running = await startTestAgent({
        relayUrl: "http://127.0.0.1:9",
        tools: [slow],
        file: { authToken: "secret" },
      });
      const client = await connect(running.url, mode);
      const called = new Promise<void>((resolve) => (onCalled = resolve));
      const answer = client.callTool({ name: "agent_task", arguments: { prompt: "almost done" } });
      await called;
      const stoppedAt = Date.now();
      await running.stop();
      const [block] = (await answer).content as { text: string }[];
      expect(block?.text).toContain('"result":"almost done"');
      expect(Date.now() - stoppedAt).toBeLessThan(3_000);
      await expect(fetch(running.url ?? "")).rejects.toThrow("fetch failed");
      await client.close();
    },
  );
});

test.each([
  [false, false],
  [true, true],
])(
  "an agent with a relay (%s) and a listing (%s) has the matching synthetic tools",
  async (hasRelay, hasListing) => {
    const started = await startStandaloneAgent({
      file: hasListing ? { listing: { capabilities: ["shout"], pricing: [] } } : {},
      env: {
        AGENT_AUTH_TOKEN: "secret",
        ...(hasRelay && { AGENT_SYNC_URL: "http://127.0.0.1:9" }),
      },
    });
    if (!started.ok) throw new Error(started.faults.join("; "));
    const client = await connect(started.running.url, "auto");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...listSyntheticToolNames({ hasRelay, hasListing, delegates: false }),
      "shout",
    ]);
    await client.close();
    await started.running.stop();
  },
);
