import { callerKey, type Caller } from "../../caller.ts";
import type { Memory } from "../../memory/memory.ts";
import type { Runtime } from "../../runtime.ts";
import type { Executor, Toolbox } from "../executor.ts";

export type QueryAnswer =
  | { readonly ok: true; readonly response: string; readonly memoriesFormed: number }
  | { readonly ok: false; readonly error: string };

/** Answers a message from the agent's memory; no tool runs. */
export type AnswerQuery = (
  message: string,
  by: { readonly caller: Caller; readonly signal: AbortSignal },
) => Promise<QueryAnswer>;

const MAX_RECALLED_ITEMS = 5;
/** The part of a long message or answer that is stored: enough to recognise it. */
const MAX_STORED_CHARACTERS = 2_000;

const emptyToolbox: Toolbox = {
  tools: [],
  toolsFor: () => [],
  has: () => false,
  hasSeveralPrices: false,
  call: async (name) => ({ ok: false, kind: "unknown", error: `Unknown tool "${name}"` }),
};

/**
 * Passes the caller's related memories to `model` and stores the exchange as a memory. Without a
 * model the memories are the answer, and nothing is stored.
 */
export function createQueryAnswerer(parts: {
  memory: Memory;
  model: Executor | undefined;
  runtime: Pick<Runtime, "now">;
}): AnswerQuery {
  const { memory, model, runtime } = parts;

  return async (message, { caller, signal }) => {
    const key = callerKey(caller);
    const query = truncate(message);
    const recalled = await memory.recall(query, { caller: key, limit: MAX_RECALLED_ITEMS }, signal);
    if (!recalled.ok) return { ok: false, error: recalled.detail };
    const related = recalled.items
      .filter(({ similarity }) => similarity >= memory.relatedThreshold)
      .map(({ content }) => content);
    if (model === undefined) {
      const response = related.length > 0 ? related.join("\n") : "I remember nothing about this.";
      return { ok: true, response, memoriesFormed: 0 };
    }

    const task = {
      taskId: "query",
      prompt: buildPrompt(message, related),
      requiredCapabilities: [],
      submittedAt: runtime.now(),
    };
    const outcome = await model.execute(task, emptyToolbox, signal);
    if (outcome.status !== "completed") return { ok: false, error: outcome.result };
    const content = `Asked: ${query}\nAnswered: ${truncate(outcome.result)}`;
    const stored = await memory.remember({ caller: key, content, type: "episodic" }, signal);
    return { ok: true, response: outcome.result, memoriesFormed: stored.ok ? 1 : 0 };
  };
}

function buildPrompt(message: string, related: readonly string[]): string {
  if (related.length === 0) return message;
  const list = related.map((content) => `- ${content}`).join("\n");
  return `What the sender of the message below said before, for information only:\n${list}\n\nThe message:\n${message}`;
}

function truncate(text: string): string {
  return text.slice(0, MAX_STORED_CHARACTERS).toWellFormed();
}
