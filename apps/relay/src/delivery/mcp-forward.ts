import { mintToken } from "@agent/client";
import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { limits } from "@agent/wire";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as v from "valibot";
import { parseObject } from "../http/body.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { version } from "../version.ts";
import { watchedFetch } from "./watched-fetch.ts";

export interface CallableAgent {
  readonly agentId: string;
  readonly endpoint: string;
  /** 64 hex digits. */
  readonly publicKey: string;
}

export type Forwarded =
  | { readonly ok: true; readonly text: string; readonly value: object }
  /** `answered`: there is an MCP server, which did not do the task. */
  | { readonly ok: false; readonly answered: boolean; readonly reason: string };

type Forwarder = Pick<Services, "runtime" | "identity" | "egress">;

const ToolResult = v.object({
  isError: v.optional(v.boolean()),
  content: v.array(v.looseObject({ type: v.string(), text: v.optional(v.string()) })),
});

/** Of what an endpoint says about a failure, as much as a log line needs. */
const reasonLength = 200;

/**
 * Has an agent's own MCP endpoint execute a task, and brings back the receipt that it answers. The
 * relay signs in with a token of its own for this agent alone, never with a configured secret.
 */
export async function forwardOverMcp(
  services: Forwarder,
  task: TaskRow,
  agent: CallableAgent,
  stopping: AbortSignal,
): Promise<Forwarded> {
  const { runtime, egress } = services;
  const url = egress.checkUrl(agent.endpoint);
  if (!url.ok) return failure(url.detail);
  const authorization = `Bearer agent:${await tokenFor(agent, services)}`;
  const timeout = forwardTime(task, runtime.now());
  const over = new AbortController();
  const end = (error: unknown) => over.abort(error);
  const cancelTimer = runtime.schedule(timeout, () => end(new Error("did not answer in time")));
  const transport = new StreamableHTTPClientTransport(new URL(agent.endpoint), {
    fetch: watchedFetch(egress.withTimeout(timeout), end),
    requestInit: { headers: { authorization } },
  });
  const client = new Client(
    { name: "agent-relay", version },
    { versionNegotiation: { mode: "auto" } },
  );
  const call = async () => {
    await client.connect(transport, { timeout });
    const params = { name: "agent_task", arguments: argumentsOf(task) };
    return client.callTool(params, { timeout, maxTotalTimeout: timeout });
  };
  try {
    return receiptIn(await unlessAborted(call(), AbortSignal.any([over.signal, stopping])));
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  } finally {
    cancelTimer();
    void leave(client, transport);
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]);
}

/** Servers of the older revisions keep a session for each client until it says goodbye. */
async function leave(client: Client, transport: StreamableHTTPClientTransport): Promise<void> {
  await transport.terminateSession().catch(() => undefined);
  await client.close().catch(() => undefined);
}

function tokenFor({ publicKey }: CallableAgent, { identity, runtime }: Forwarder): Promise<string> {
  return mintToken({
    agentId: identity.relayId,
    deviceId: identity.relayId,
    secretKey: identity.secretKey,
    audience: publicKeyToDidKey(hexToBytes(publicKey)),
    scope: ["task:submit"],
    now: runtime.now(),
    jti: newId(runtime),
  });
}

function argumentsOf({
  prompt,
  task_id,
  required_capabilities,
  delegation_token,
}: TaskRow): Record<string, unknown> {
  const capabilities = JSON.parse(required_capabilities) as string[];
  return {
    prompt,
    relay_task_id: task_id,
    ...(capabilities.length > 0 && { required_capabilities: capabilities }),
    ...(delegation_token !== null && { delegation_token }),
  };
}

/** What is left of the task's time, and of the submitter's own bound, up to 330 s. */
function forwardTime(task: TaskRow, now: number): number {
  const left = Math.min(task.expires_at - now, limits.forwardTimeoutMs);
  return Math.max(1, task.wall_clock_ms === null ? left : Math.min(left, task.wall_clock_ms));
}

/** The receipt is the JSON object of the first text block, with or without the tag line behind it. */
function receiptIn(result: unknown): Forwarded {
  const parsed = v.safeParse(ToolResult, result);
  if (!parsed.success) return failure("no tool result", true);
  const text = parsed.output.content.find((block) => block.type === "text")?.text ?? "";
  if (parsed.output.isError === true) return failure(text, true);
  const json = text.replace(/\n\[agent:[^\n]*\]\s*$/, "");
  const receipt = parseObject(json);
  return receipt.ok
    ? { ok: true, text: json, value: receipt.value }
    : failure("the tool result holds no receipt", true);
}

function failure(reason: string, answered = false): Forwarded {
  return { ok: false, answered, reason: reason.slice(0, reasonLength) };
}
