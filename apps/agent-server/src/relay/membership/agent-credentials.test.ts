import { delegate } from "@agent/client";
import {
  verifyPresentation,
  type VerifiableCredential,
  type VerifiablePresentation,
} from "@agent/credentials";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningAgent } from "../../start-agent.ts";
import { startAgentWithoutSocket } from "../../testing/agents/agent-without-socket.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { startJoinedAgent, startTestAgent } from "../../testing/agents/start-agent.ts";
import { createTextTool } from "../../testing/tools/test-tools.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay(0, { AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
});
afterAll(() => relay.stop());

const signal = new AbortController().signal;

/** Returns the answer of `agent_credentials` and the faults of its verification. */
async function shownBy({ relayLink }: RunningAgent) {
  const answer = await relayLink?.credentials?.present(signal);
  if (answer?.ok !== true) throw new Error(answer?.error ?? "no credentials");
  const verdict = verifyPresentation(answer.presentation, { now: Date.now() });
  expect(verdict.code).toBeUndefined();
  return answer.presentation as unknown as VerifiablePresentation;
}

function kindsOf({ verifiableCredential: shown }: VerifiablePresentation): string[] {
  return shown.map(({ type }) => type.find((name) => name !== "VerifiableCredential") ?? "");
}

async function requestDelegation(running: RunningAgent, by?: string) {
  const { agentId } = running.agent.identity;
  const done = await delegate(relay.operator, {
    agentId,
    prompt: "p",
    timeoutMs: 10_000,
    ...(by !== undefined && { submittedBy: by }),
  });
  if (!done.ok) throw new Error(done.message);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("an agent presents", () => {
  test("an agent presents its own gradient and the credentials of others under its own key", async () => {
    const running = await startJoinedAgent({ relayUrl: relay.url });
    const { did } = running.agent.identity;
    const payer = createTestIdentity();
    await requestDelegation(running, payer.agentId);
    const shown = await shownBy(running);
    expect(shown.holder).toBe(did);
    expect(kindsOf(shown).toSorted()).toEqual([
      "AgentGradientCredential",
      "AgentReputationCredential",
      "AgentTrustCredential",
    ]);
    for (const { credentialSubject } of shown.verifiableCredential) {
      expect(credentialSubject.id).toBe(did);
    }
    await running.stop();
  });

  test("an agent without a reachable relay presents only its own gradient", async () => {
    const running = await startTestAgent({ relayUrl: "http://127.0.0.1:9" });
    const shown = await shownBy(running);
    expect(kindsOf(shown)).toEqual(["AgentGradientCredential"]);
    expect(shown.verifiableCredential[0]?.issuer).toBe(running.agent.identity.did);
    await running.stop();
  });

  test("an agent presents the relay's last answer while the relay is unreachable", async () => {
    const early = await startTestRelay(0, { AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
    const running = await startJoinedAgent({ relayUrl: early.url });
    const { agentId } = running.agent.identity;
    const submittedBy = createTestIdentity().agentId;
    const done = await delegate(early.operator, {
      agentId,
      prompt: "p",
      submittedBy,
      timeoutMs: 10_000,
    });
    expect(done.ok).toBe(true);
    const before = kindsOf(await shownBy(running));
    await early.stop();
    expect(kindsOf(await shownBy(running))).toEqual(before);
    expect(before).toContain("AgentReputationCredential");
    await running.stop();
  });
});

describe("a gradient credential", () => {
  const gradientIn = ({ verifiableCredential: shown }: VerifiablePresentation) =>
    shown.find(({ type }) => type.includes("AgentGradientCredential")) as
      | VerifiableCredential<Record<string, unknown> & { id: string }>
      | undefined;

  test("a gradient credential is issued from the counts of each housekeeping cycle", async () => {
    const running = await startJoinedAgent({
      relayUrl: relay.url,
      file: { housekeepingIntervalMs: 100 },
    });
    const first = gradientIn(await shownBy(running));
    expect(first?.credentialSubject).toMatchObject({ interaction_efficiency: 0 });
    await requestDelegation(running);
    await until(async () => gradientIn(await shownBy(running))?.id !== first?.id);
    await until(async () => {
      const { credentialSubject } = gradientIn(await shownBy(running)) ?? {};
      return credentialSubject?.["interaction_efficiency"] === 1;
    });
    const later = gradientIn(await shownBy(running))?.credentialSubject;
    expect(later).toMatchObject({ tool_efficiency: 1, curiosity_pressure: 0 });
    expect(later?.["gradient"]).toBe(running.relayLink?.gradient?.());
    await running.stop();
  });

  test("a gradient credential is submitted to the relay, which presents it to others", async () => {
    const running = await startJoinedAgent({ relayUrl: relay.url });
    const { agentId, did } = running.agent.identity;
    const list = () =>
      relay.operator.listCredentials({
        params: { agentId },
        query: { type: "AgentGradientCredential" },
      });
    await until(async () => (await list()).ok);
    const listed = await list();
    expect(listed.ok && listed.body.credentials[0]?.credential).toMatchObject({ issuer: did });
    await running.stop();
  });
});

test("an agent issues a credential about an agent that it delegated to", async () => {
  const worker = await startAgentWithoutSocket({ relayUrl: relay.url });
  const { agentId } = worker.identity;
  const boss = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [
      createTextTool("ask", async (prompt, { delegate: ask }) => {
        const answer = await ask?.({ agent_id: agentId, prompt });
        return answer ?? { ok: false, error: "no relay" };
      }),
    ],
  });
  await requestDelegation(boss);
  const byBoss = async () => {
    const listed = await relay.operator.listCredentials({ params: { agentId }, query: {} });
    const all = listed.ok ? listed.body.credentials : [];
    return all.filter(({ credential }) => credential["issuer"] === boss.agent.identity.did);
  };
  await until(async () => (await byBoss()).length > 0);
  expect((await byBoss()).map(({ type }) => type).toSorted()).toEqual([
    "AgentReputationCredential",
    "AgentTrustCredential",
  ]);
  await boss.stop();
  await worker.stop();
});
