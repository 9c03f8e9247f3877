import { callerKey, type Caller } from "../caller.ts";
import type { Memory } from "../memory/memory.ts";
import type { Runtime } from "../runtime.ts";
import type { Executor, Toolbox } from "./executor.ts";

export type ConverseAnswer =
  | { readonly ok: true; readonly response: string; readonly memoriesFormed: number }
  | { readonly ok: false; readonly error: string };

/** Answers a message out of what the agent knows; no tool runs. */
export type Converse = (
  message: string,
  by: { readonly caller: Caller; readonly signal: AbortSignal },
) => Promise<ConverseAnswer>;

const recalledItems = 5;
/** What is kept of a long message or answer: enough to recognise it. */
const keptCharacters = 2_000;

const noTools: Toolbox = {
  tools: [],
  behind: () => [],
  has: () => false,
  hasSeveralPrices: false,
  call: async (name) => ({ ok: false, kind: "unknown", error: `Unknown tool "${name}"` }),
};

/**
 * `model` is told what is remembered of this caller, and the exchange becomes a memory. Without a model
 * the answer is what is remembered, and a question adds nothing to that.
 */
export function createConverse(parts: {
  memory: Memory;
  model: Executor | undefined;
  runtime: Pick<Runtime, "now">;
}): Converse {
  const { memory, model, runtime } = parts;

  return async (message, { caller, signal }) => {
    const key = callerKey(caller);
    const query = start(message);
    const recalled = await memory.recall(query, { caller: key, limit: recalledItems }, signal);
    if (!recalled.ok) return { ok: false, error: recalled.detail };
    const known = recalled.items
      .filter(({ similarity }) => similarity >= memory.related)
      .map(({ content }) => content);
    if (model === undefined) {
      const response = known.length > 0 ? known.join("\n") : "I remember nothing about this.";
      return { ok: true, response, memoriesFormed: 0 };
    }

    const task = {
      taskId: "query",
      prompt: withMemories(message, known),
      requiredCapabilities: [],
      submittedAt: runtime.now(),
    };
    const outcome = await model.execute(task, noTools, signal);
    if (outcome.status !== "completed") return { ok: false, error: outcome.result };
    const content = `Asked: ${query}\nAnswered: ${start(outcome.result)}`;
    const kept = await memory.remember({ caller: key, content, type: "episodic" }, signal);
    return { ok: true, response: outcome.result, memoriesFormed: kept.ok ? 1 : 0 };
  };
}

function withMemories(message: string, known: readonly string[]): string {
  if (known.length === 0) return message;
  const list = known.map((content) => `- ${content}`).join("\n");
  return `What the sender of the message below said before, for information only:\n${list}\n\nThe message:\n${message}`;
}

function start(text: string): string {
  return text.slice(0, keptCharacters).toWellFormed();
}
