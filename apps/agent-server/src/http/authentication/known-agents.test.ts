import { mintToken } from "@agent/client";
import { describe, expect, test } from "vitest";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startStandaloneAgent } from "../../testing/agents/start-agent.ts";
import { createTextTool } from "../../testing/tools/test-tools.ts";
import { callTextTool } from "../../testing/tools/connect-client.ts";
import { parseKnownAgents } from "./known-agents.ts";

const friend = createTestIdentity();
const entry = {
  agent_id: friend.agentId,
  public_key: friend.publicKey,
  trust_level: "verified",
  name: "A friend",
};

describe("the file of known agents", () => {
  test("agents, their keys and their trust levels are parsed from the file of known agents", () => {
    const read = parseKnownAgents(JSON.stringify([entry]), "agents.json");
    expect(read.ok && [...read.agents.values()]).toEqual([
      {
        publicKey: friend.publicKey,
        caller: { kind: "agent", agentId: friend.agentId, trust: "verified" },
      },
    ]);
  });

  test.each<[string, unknown, string]>([
    ["an object instead of a list", {}, "agents.json: must be a list of agents"],
    ["a malformed id", [{ ...entry, agent_id: "x" }], "0.agent_id: must be a UUID"],
    ["a malformed key", [{ ...entry, public_key: "00" }], "0.public_key: must be 64"],
    ["an unknown level", [{ ...entry, trust_level: "secret" }], "0.trust_level: "],
    ["an unknown member", [{ ...entry, trust: "x" }], "0.trust: is not a known member"],
    ["an agent twice", [entry, entry], "1.agent_id: is in the list twice"],
  ])("%s is a fault", (_, agents, fault) => {
    const read = parseKnownAgents(JSON.stringify(agents), "agents.json");
    expect(read.ok ? [] : read.faults).toEqual([expect.stringContaining(fault)]);
    expect(JSON.stringify(read)).not.toContain("secret");
  });

  test("malformed JSON is a fault", () => {
    expect(parseKnownAgents("[", "agents.json").ok).toBe(false);
  });
});

describe("an agent without a relay", () => {
  test.each([
    ["verified", "written"],
    ["first_contact", "Governance: "],
    ["blocked", "Policy denied: "],
  ] as const)(
    "an agent without a relay lets a %s agent of its file do what that level may",
    async (level, answer) => {
      const writing = createTextTool("writing", () => ({ ok: true, data: "written" }), 2);
      const read = parseKnownAgents(JSON.stringify([{ ...entry, trust_level: level }]), "");
      if (!read.ok) throw new Error(read.faults.join());
      const started = await startStandaloneAgent({ tools: [writing], knownAgents: read.agents });
      if (!started.ok) throw new Error(started.faults.join());
      const { running } = started;
      const tokenOf = (signer: typeof friend) =>
        mintToken({
          ...friend,
          secretKey: signer.secretKey,
          deviceId: friend.agentId,
          audience: running.agent.identity.did,
          scope: [],
          now: Date.now(),
          jti: crypto.randomUUID(),
        });
      expect(
        await callTextTool(running.url, `agent:${await tokenOf(friend)}`, "writing"),
      ).toContain(answer);
      const forged = { authorization: `Bearer agent:${await tokenOf(createTestIdentity())}` };
      const refused = await fetch(running.url ?? "", { method: "DELETE", headers: forged });
      expect(refused.status).toBe(401);
      await running.stop();
    },
  );
});
