import { mintToken } from "@agent/client";
import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { limits } from "@agent/wire";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as v from "valibot";
import { parseObject } from "../http/body.ts";
import { EgressError } from "../http/egress.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { version } from "../version.ts";
import type { EndpointFault } from "./endpoint-fault.ts";
import { watchedFetch } from "./watched-fetch.ts";

export interface CallableAgent {
  readonly agentId: string;
  readonly endpoint: string;
  /** 64 hex digits. */
  readonly publicKey: string;
}

export type Forwarded =
  | { readonly ok: true; readonly text: string; readonly value: object }
  | { readonly ok: false; readonly fault: EndpointFault; readonly reason: string };

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
  const began = runtime.now();
  const over = new AbortController();
  const end = (error: unknown) => over.abort(error);
  const cancelTimer = runtime.schedule(timeout, () => end(new OutOfTime("did not answer in time")));
  const stopped = AbortSignal.any([over.signal, stopping]);
  const transport = new StreamableHTTPClientTransport(new URL(agent.endpoint), {
    fetch: watchedFetch(egress.withTimeout(timeout), end),
    requestInit: { headers: { authorization } },
  });
  const client = new Client(
    { name: "agent-relay", version },
    { versionNegotiation: { mode: "auto" } },
  );
  const call = async () => {
    const options = { timeout: timeout + clientMarginMs, signal: stopped };
    await client.connect(transport, options);
    const params = { name: "agent_task", arguments: argumentsOf(task) };
    // A call that is stopped is cancelled at the endpoint too.
    return client.callTool(params, options);
  };
  try {
    return receiptIn(await unlessAborted(call(), stopped));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const waitedMs = Math.max(runtime.now() - began, isOutOfTime(error) ? timeout : 0);
    return failure(reason, isOutOfTime(error) ? { kind: "timeout", waitedMs } : unreachable);
  } finally {
    cancelTimer();
    void leave(client, transport);
  }
}

/** The relay's own clock ends a call; the client's timer only backs it up. */
const clientMarginMs = 5_000;

class OutOfTime extends Error {}

function isOutOfTime(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof OutOfTime) return true;
    if (at instanceof EgressError && at.code === "egress.timeout") return true;
  }
  return false;
}

const unreachable: EndpointFault = { kind: "unreachable" };
const answered: EndpointFault = { kind: "answered" };

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
  if (!parsed.success) return failure("no tool result", answered);
  const text = parsed.output.content.find((block) => block.type === "text")?.text ?? "";
  if (parsed.output.isError === true) return failure(text, answered);
  const json = text.replace(/\n\[agent:[^\n]*\]\s*$/, "");
  const receipt = parseObject(json);
  return receipt.ok
    ? { ok: true, text: json, value: receipt.value }
    : failure("the tool result holds no receipt", answered);
}

function failure(reason: string, fault = unreachable): Forwarded {
  return { ok: false, fault, reason: reason.slice(0, reasonLength) };
}
