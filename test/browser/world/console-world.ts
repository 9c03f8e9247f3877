import { createRelayClient, delegate, type RelayClient } from "@agent/client";
import { sha256Hex } from "@agent/crypto";
import { vi } from "vitest";
import { MASTER_TOKEN } from "../../start-relay-process.ts";
import { joinRelay, type RealAgent, unwrapBody } from "./real-agent.ts";

const TIMEOUT_MS = 20_000;
/** Chosen before the relay starts, so that its database can contain a history of the agent. */
export const LONELY_ID = "019b7d21-53eb-7ccd-926c-3badff397a01";

/** A relay in use: agents that delegate to each other, failures, and money that is held. */
export interface ConsoleWorld {
  readonly operator: RelayClient;
  readonly editor: RealAgent;
  readonly research: RealAgent;
  readonly linguist: RealAgent;
  readonly files: RealAgent;
  /** An agent with an address that no relay will call. */
  readonly lonely: RealAgent;
  /** Delegates to the researcher, which in turn delegates to the linguist. */
  readonly askResearch: (prompt: string) => Promise<string>;
  /** Delegates a task that cannot succeed. */
  readonly askFiles: (prompt: string) => Promise<string>;
  /** Submits a paid task to an agent that accepts none, and returns at once, so that its money stays held. */
  readonly submitOpen: (prompt: string) => Promise<string>;
  readonly close: () => void;
}

/** Populates a relay with real agents. */
export async function createConsoleWorld(baseUrl: string): Promise<ConsoleWorld> {
  const operator = createRelayClient({ baseUrl, identity: { masterToken: MASTER_TOKEN } });
  const editor = await joinRelay(baseUrl, { name: "editor" });
  const linguist = await joinRelay(baseUrl, {
    name: "linguist",
    capability: "stem-words",
    price: 0.4,
    answer: async () => ({ result: "word, work, world", tools_used: ["stem-words"] }),
  });
  const research = await joinRelay(baseUrl, {
    name: "research",
    description: "Writes short reports with sources.",
    capability: "write-report",
    price: 2,
    answer: async (task, agent) => {
      const inner = await delegate(agent.client, {
        agentId: linguist.agentId,
        prompt: `words of: ${task.prompt}`,
        requiredCapabilities: ["stem-words"],
        maxBudget: 0.5,
        parentTaskId: task.task_id,
        timeoutMs: TIMEOUT_MS,
      });
      if (!inner.ok) return { status: "failed", result: inner.message };
      return {
        result: "A report of three pages.",
        tools_used: ["write-report"],
        delegation_receipts: [inner.receipt],
      };
    },
  });
  const files = await joinRelay(baseUrl, {
    name: "files",
    capability: "read-file",
    price: 0.05,
    answer: async () => ({ status: "failed", result: "no such file: report-2026.md" }),
  });
  // A second offer, so that the routing has something to choose from.
  await joinRelay(baseUrl, { name: "library", capability: "write-report", price: 2.3 });
  const archive = await joinRelay(baseUrl, {
    name: "archive",
    capability: "search-archive",
    price: 1.2,
  });
  const lonely = await joinRelay(baseUrl, {
    agentId: LONELY_ID,
    name: "lonely",
    endpoint: "https://lonely.example/mcp",
  });
  await fund(operator, research, 5);
  await fund(operator, editor, 100);
  const ask = (agentId: string, capability: string, price: number) => async (prompt: string) => {
    const requiredCapabilities = [capability];
    const options = { agentId, prompt, requiredCapabilities, maxBudget: price };
    const result = await delegate(editor.client, { ...options, timeoutMs: TIMEOUT_MS });
    if (result.taskId === undefined) throw new Error("the task was refused");
    return result.taskId;
  };
  return {
    operator,
    editor,
    research,
    linguist,
    files,
    lonely,
    askResearch: ask(research.agentId, "write-report", 2.4),
    askFiles: ask(files.agentId, "read-file", 0.1),
    submitOpen: async (prompt) =>
      unwrapBody(
        await editor.client.submitTask({
          params: { agentId: archive.agentId },
          body: { prompt, required_capabilities: ["search-archive"], max_budget: 1.5 },
        }),
      ).task_id,
    close: () => [linguist, research, files].forEach((agent) => agent.close()),
  };
}

async function fund(operator: RelayClient, agent: RealAgent, amount: number): Promise<void> {
  const body = { amount, reference: `deposit ${agent.agentId}` };
  unwrapBody(await operator.deposit({ params: agent, body }));
}

/** Requests a withdrawal, which then waits for the operator. */
export async function askForMoney(agent: RealAgent, amount: number): Promise<string> {
  const body = { amount, destination: "DE02 1203 0000 0000 2020 51" };
  return unwrapBody(await agent.client.requestWithdrawal({ params: agent, body })).withdrawal_id;
}

/** Asks two agents to vote on a call. */
export async function askForVotes({ research, editor, linguist }: ConsoleWorld): Promise<void> {
  unwrapBody(
    await research.client.requestApproval({
      params: research,
      body: {
        tool_name: "send-mail",
        args_hash: sha256Hex("the arguments"),
        quorum_required: 2,
        quorum_approvers: [editor.agentId, linguist.agentId],
      },
    }),
  );
}

/** Waits until a task has ended and its money has moved. */
export async function waitForEnd(operator: RelayClient, taskId: string): Promise<void> {
  await vi.waitUntil(
    async () =>
      unwrapBody(await operator.getTaskReport({ params: { taskId } })).task.ended_at !== null,
    { timeout: TIMEOUT_MS, interval: 50 },
  );
}
