import { unlessMalformed } from "@agent/crypto";
import { hashArgs } from "@agent/ledger";
import { limits } from "@agent/wire";
import { isCallToolResult } from "@modelcontextprotocol/server";
import type { Guard } from "../../policy/guard.ts";
import type { Runtime } from "../../runtime.ts";
import { checkArgumentSize } from "./check-argument-size.ts";
import type { JsonObject, RichContent, ToolAnswer, ToolContext } from "../definition.ts";
import type { RegisteredTool, ToolRegistry } from "../registry.ts";

/**
 * The reason why a call gave no result; executors treat `denied` differently from an ordinary failure.
 * `unavailable`: the call cannot be decided now.
 */
export type FailureKind = "unknown" | "invalid" | "denied" | "unavailable" | "aborted" | "failed";

export type CallAnswer =
  | ({ readonly ok: true; readonly data: string } & RichContent)
  | ({ readonly ok: false; readonly error: string; readonly kind: FailureKind } & RichContent);

/** Images are larger than texts and are never part of a receipt. */
const MAX_RICH_BYTES = 8_388_608;

const MAX_FAULT_CHARACTERS = 1_000;

/**
 * Called when a tool begins to run, with the hash of its checked arguments that the audit log states as well.
 * The returned function is called with the success of the tool when it has answered or was stopped.
 */
export type OnRun = (argsHash: string) => ((ok: boolean) => void) | undefined;

export type CallTool = (
  name: string,
  args: unknown,
  context: ToolContext,
  onRun?: OnRun,
) => Promise<CallAnswer>;

/**
 * Creates the only entry point to all tools, built-in or not: it finds the tool, checks the
 * arguments, asks the policy, runs the tool, and turns every result into an answer. The text of an
 * exception never reaches the caller.
 */
export function createToolCaller(parts: {
  registry: ToolRegistry;
  guard: Guard;
  runtime: Runtime;
}): CallTool {
  const { registry, guard, runtime } = parts;
  return async (name, args, context, onRun) => {
    const tool = registry.get(name);
    if (tool === undefined) return buildFailure("unknown", `Unknown tool "${toPrintable(name)}"`);

    const size = checkArgumentSize(args ?? {});
    const isLarge = size.ok && size.isLarge;
    if (isLarge) await runOtherWork();
    const checked = size.ok ? tool.check(args ?? {}) : size;
    if (!checked.ok) {
      return buildFailure(
        "invalid",
        `Invalid arguments for tool "${name}": ${shorten(checked.fault)}`,
      );
    }

    const { args: checkedArgs } = checked;
    if (isLarge) await runOtherWork();
    // Lone surrogates cannot be hashed, so such a call could not be approved.
    const argsHash = unlessMalformed(() => hashArgs(checkedArgs));
    if (argsHash === undefined) {
      return buildFailure(
        "invalid",
        `Invalid arguments for tool "${name}": have no canonical form`,
      );
    }
    const { caller, task, signal } = context;
    const { definition } = tool;
    const refusal = tool.getRefusal?.();
    const call = { tool: definition, caller, task, args: checkedArgs, argsHash, refusal, signal };
    const decision = await guard(call);
    if (!decision.ok) return buildFailure(decision.kind, decision.message);

    const recordEnd = signal.aborted ? undefined : onRun?.(argsHash);
    const answer = await runTool(tool, checkedArgs, context);
    decision.recordCompletion(answer.ok);
    recordEnd?.(answer.ok);
    return answer;
  };

  /** Handles the events that have arrived; the first turn ends before these are looked for. */
  function runOtherWork(): Promise<void> {
    return new Promise((resolve) => runtime.afterTurn(() => runtime.afterTurn(resolve)));
  }

  async function runTool(
    tool: RegisteredTool,
    args: JsonObject,
    context: ToolContext,
  ): Promise<CallAnswer> {
    const { name } = tool.definition;
    try {
      return limitAnswer(name, await runUntilAborted(tool, args, context));
    } catch (cause) {
      runtime.log("error", "tool.threw", { tool: name, cause: formatCause(cause) });
      return buildFailure("failed", `Tool "${name}" failed`);
    }
  }
}

/**
 * Runs a tool until its signal fires; the late answer of a tool that ignores the signal is
 * discarded.
 */
async function runUntilAborted(
  tool: RegisteredTool,
  args: JsonObject,
  context: ToolContext,
): Promise<CallAnswer> {
  const { signal } = context;
  const stopped = buildFailure("aborted", `Tool "${tool.definition.name}" was stopped`);
  if (signal.aborted) return stopped;
  const answer = tool.handler(args, context);
  // A synchronous answer needs no abort listener.
  if (!isPending(answer)) return checkAnswer(answer);
  let onAbort = () => {};
  const aborted = new Promise<CallAnswer>((resolve) => {
    onAbort = () => resolve(stopped);
  });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([aborted, Promise.resolve(answer).then(checkAnswer)]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function isPending(answer: unknown): answer is PromiseLike<ToolAnswer> {
  return typeof (answer as { then?: unknown } | null | undefined)?.then === "function";
}

/** Validates the answer, because handlers are external code. */
function checkAnswer(answer: ToolAnswer | undefined): CallAnswer {
  if (answer?.ok === true && typeof answer.data === "string") {
    return { ok: true, data: answer.data, ...checkRichContent(answer) };
  }
  if (answer?.ok === false && typeof answer.error === "string") {
    return { ...buildFailure("failed", answer.error), ...checkRichContent(answer) };
  }
  throw new TypeError("handler must return {ok: true, data} or {ok: false, error}");
}

function checkRichContent({ content, structuredContent }: RichContent): RichContent {
  if (content === undefined && structuredContent === undefined) return {};
  // The answer is copied, because the tool may still change its own object.
  const rich = JSON.parse(JSON.stringify({ content, structuredContent })) as RichContent;
  if (isCallToolResult({ content: [], ...rich })) return rich;
  throw new TypeError("content and structuredContent must be those of an MCP tool result");
}

function limitAnswer(name: string, answer: CallAnswer): CallAnswer {
  const { content, structuredContent } = answer;
  const rich = content ?? structuredContent;
  const tooMuch = (limit: number) =>
    buildFailure("failed", `Tool "${name}" returned more than ${limit} bytes`);
  const text = answer.ok ? answer.data : answer.error;
  if (Buffer.byteLength(text) > limits.resultBytes) return tooMuch(limits.resultBytes);
  const richText = rich && JSON.stringify({ content, structuredContent });
  if (richText !== undefined && Buffer.byteLength(richText) > MAX_RICH_BYTES)
    return tooMuch(MAX_RICH_BYTES);
  return answer;
}

/** Shortens a fault, because a validator lists each of many faults. */
function shorten(fault: string): string {
  return fault.slice(0, MAX_FAULT_CHARACTERS).toWellFormed();
}

/** Formats a thrown value, which may have no text. */
function formatCause(cause: unknown): string {
  try {
    return String(cause);
  } catch {
    return "thrown value without text";
  }
}

function buildFailure(kind: FailureKind, error: string): CallAnswer {
  return { ok: false, kind, error };
}

function toPrintable(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]/g, "?").slice(0, 64);
}
