import { mintToken } from "@agent/client";
import type { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KnownAgents } from "./http/authentication/known-agents.ts";
import type { Identity } from "./identity/identity.ts";
import type { RunningAgent } from "./start-agent.ts";
import { callText, connectClient, type ProtocolEra } from "./testing/tools/connect-client.ts";
import { createTestIdentity } from "./testing/agents/test-identity.ts";
import { startStandaloneAgent } from "./testing/agents/start-agent.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

const alice = createTestIdentity("alice");
const bob = createTestIdentity("bob");

/** Answers late and out of order, so that calls of both callers always overlap. */
const whoami = createTextTool("whoami", async (text, { caller }) => {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  return { ok: true, data: caller.kind === "agent" ? `${caller.agentId} ${text}` : caller.kind };
});

interface Connected {
  readonly self: Identity;
  readonly other: Identity;
  readonly client: Client;
}

let running: RunningAgent;
let connections: Connected[];

beforeAll(async () => {
  const knownAgents: KnownAgents = new Map(
    [alice, bob].map(({ agentId, publicKey }) => [
      agentId,
      { publicKey, caller: { kind: "agent", agentId, trust: "verified" } },
    ]),
  );
  const started = await startStandaloneAgent({ tools: [whoami], knownAgents });
  if (!started.ok) throw new Error(started.faults.join("; "));
  ({ running } = started);
  const connect = async (self: Identity, other: Identity, era: ProtocolEra): Promise<Connected> => {
    const client = await connectClient(running.url, `agent:${await tokenOf(self)}`, era);
    return { self, other, client };
  };
  connections = await Promise.all([
    connect(alice, bob, "auto"),
    connect(bob, alice, "auto"),
    connect(alice, bob, "legacy"),
    connect(bob, alice, "legacy"),
  ]);
});
afterAll(async () => {
  await Promise.all(connections.map(({ client }) => client.close()));
  await running.stop();
});

function tokenOf({ agentId, secretKey }: Identity): Promise<string> {
  return mintToken({
    agentId,
    deviceId: agentId,
    secretKey,
    audience: running.agent.identity.did,
    scope: [],
    now: Date.now(),
    jti: crypto.randomUUID(),
  });
}

const whatIsMine = ({ agentId }: Identity, round: number) => `${agentId} likes number ${round}`;

describe("two callers at once, in both eras, with 200 interleaved calls", () => {
  test("each of 200 interleaved calls is attributed to its own caller", async () => {
    const calls = connections.flatMap(({ self, client }, index) =>
      Array.from({ length: 50 }, async (_, round) => {
        const text = `${index}.${round}`;
        if (round % 5 === 1) {
          await callText(client, "agent_remember", { content: whatIsMine(self, round) });
        }
        if (round % 5 === 2) {
          const recalled = await callText(client, "agent_recall", { query: "likes number" });
          return { self, seen: recalled };
        }
        const answer = await callText(client, "whoami", { text });
        expect(answer).toBe(`${self.agentId} ${text}`);
        return { self, seen: answer };
      }),
    );
    for (const { self, seen } of await Promise.all(calls)) {
      expect(seen).not.toContain((self === alice ? bob : alice).agentId);
    }
  });

  test("each caller recalls its own memories and none of the other's", async () => {
    for (const { self, other, client } of connections) {
      const items = JSON.parse(
        await callText(client, "agent_recall", { query: "likes number", limit: 100 }),
      ) as { content: string }[];
      const own = Array.from({ length: 10 }, (_, index) => whatIsMine(self, 5 * index + 1));
      expect(items.map(({ content }) => content).toSorted()).toEqual(own.toSorted());
      const memories = await client.readResource({ uri: "agent://memories" });
      expect(JSON.stringify(memories)).toContain(self.agentId);
      expect(JSON.stringify(memories)).not.toContain(other.agentId);
    }
  });

  test("no caller can use, read or close the other's session", async () => {
    const ofAlice = connections.find(({ self, client }) => self === alice && sessionOf(client));
    const session = ofAlice && sessionOf(ofAlice.client);
    expect(session).toMatch(/^[A-Za-z0-9_-]{32}$/);
    const headers = {
      authorization: `Bearer agent:${await tokenOf(bob)}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": session ?? "",
    };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    for (const init of [
      { method: "POST", body: JSON.stringify(call) },
      { method: "GET" },
      { method: "DELETE" },
    ]) {
      const answer = await fetch(running.url ?? "", { ...init, headers });
      expect([init.method, answer.status]).toEqual([init.method, 404]);
    }
    await expect(ofAlice?.client.listTools()).resolves.toBeDefined();
  });
});

function sessionOf(client: Client): string | undefined {
  return (client.transport as StreamableHTTPClientTransport | undefined)?.sessionId;
}
