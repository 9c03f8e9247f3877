import { toDollars } from "@agent/budget";
import { mintToken } from "@agent/client";
import { formatError, hexToDidKey } from "@agent/crypto";
import { limits, TASK_ORIGIN, type TaskOrigin } from "@agent/wire";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as v from "valibot";
import { parseJsonObject } from "../../http/server/body.ts";
import { EgressError, type EgressFetch } from "../../http/egress/egress.ts";
import { newId } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { version } from "../../version.ts";
import type { EndpointFault } from "./endpoint-fault.ts";
import { watchFetch } from "./watch-fetch.ts";
import { parseRequiredCapabilities } from "../../tasks/task.ts";

export interface CallableAgent {
  readonly agentId: string;
  readonly endpoint: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** Whether the last call found no MCP server at the endpoint. */
  readonly wasUnreachable: boolean;
}

export type ForwardResult =
  | { readonly ok: true; readonly text: string; readonly value: object }
  | { readonly ok: false; readonly fault: EndpointFault; readonly reason: string };

type ForwardServices = Pick<Services, "runtime" | "identity" | "egress">;

const ToolResult = v.object({
  isError: v.optional(v.boolean()),
  content: v.array(v.looseObject({ type: v.string(), text: v.optional(v.string()) })),
});

/** Limits an endpoint's failure text in a log record. */
const MAX_REASON_LENGTH = 200;

/**
 * Calls an agent's own MCP endpoint to execute a task, and returns its receipt. The relay authenticates
 * with a token for this agent alone, never with a configured secret.
 */
export async function forwardOverMcp(
  services: ForwardServices,
  task: TaskRow,
  agent: CallableAgent,
  stopping: AbortSignal,
): Promise<ForwardResult> {
  const { runtime, egress } = services;
  const url = egress.checkUrl(agent.endpoint);
  if (!url.ok) return toFailure(url.detail);
  const token = await mintCallToken(agent, services);
  const target = { endpoint: agent.endpoint, authorization: `Bearer agent:${token}` };
  const timeout = remainingTimeMs(task, runtime.now());
  const startedAt = runtime.now();
  const call = startTimedCall(services, timeout, { stopping, message: "did not answer in time" });
  const { options } = call;
  let isConnected = false;
  const callTool = async ({ client, transport }: EndpointClient) => {
    await client.connect(transport, options);
    isConnected = true;
    const params = {
      name: "agent_task",
      arguments: buildArguments(task),
      _meta: { [TASK_ORIGIN]: buildOrigin(task) },
    };
    // Aborting the call also cancels it at the endpoint.
    return client.callTool(params, options);
  };
  try {
    return parseToolResult(await withClient(target, call, callTool));
  } catch (error) {
    const reason = formatError(error);
    if (isTimeout(error)) {
      const waitedMs = Math.max(runtime.now() - startedAt, timeout);
      return toFailure(reason, { kind: "timeout", waitedMs });
    }
    // The submitter chose what the call carried, and a connection carries nothing of it.
    const isReachable = isConnected && (await canConnect(services, target, stopping));
    return toFailure(reason, isReachable ? answered : unreachable);
  } finally {
    call.end();
  }
}

/** A use of an endpoint with a time limit. */
interface TimedCall {
  readonly fetchUrl: EgressFetch;
  readonly options: { readonly timeout: number; readonly signal: AbortSignal };
  /** Stops the timer. */
  readonly end: () => void;
}

/** Starts a call that is aborted after `ms`, when an answer breaks off, or by `stopping`. */
function startTimedCall(
  { runtime, egress }: Pick<ForwardServices, "runtime" | "egress">,
  ms: number,
  { stopping, message }: { readonly stopping: AbortSignal; readonly message: string },
): TimedCall {
  const controller = new AbortController();
  const abort = (error: unknown) => controller.abort(error);
  const end = runtime.schedule(ms, () => abort(new CallTimeoutError(message)));
  const signal = AbortSignal.any([controller.signal, stopping]);
  const fetchUrl = watchFetch(egress.withTimeout(ms), abort);
  return { fetchUrl, options: { timeout: ms + CLIENT_MARGIN_MS, signal }, end };
}

interface EndpointTarget {
  readonly endpoint: string;
  readonly authorization: string;
}

interface EndpointClient {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** Does something with a new client of an endpoint until the call is aborted, and then closes the client. */
async function withClient<T>(
  { endpoint, authorization }: EndpointTarget,
  { fetchUrl, options: { signal } }: TimedCall,
  work: (opened: EndpointClient) => Promise<T>,
): Promise<T> {
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
    fetch: fetchUrl,
    requestInit: { headers: { authorization } },
  });
  const client = new Client(
    { name: "agent-relay", version },
    { versionNegotiation: { mode: "auto" } },
  );
  try {
    return await rejectOnAbort(work({ client, transport }), signal);
  } finally {
    void closeClient(client, transport);
  }
}

/** Limits the second connection, which decides about an endpoint after a failed call. */
const RECONNECT_TIMEOUT_MS = 10_000;

/** Returns whether an MCP server answers at an endpoint. */
async function canConnect(
  services: ForwardServices,
  target: EndpointTarget,
  stopping: AbortSignal,
): Promise<boolean> {
  const message = "did not connect in time";
  const call = startTimedCall(services, RECONNECT_TIMEOUT_MS, { stopping, message });
  try {
    await withClient(target, call, ({ client, transport }) =>
      client.connect(transport, call.options),
    );
    return true;
  } catch {
    return false;
  } finally {
    call.end();
  }
}

/** The relay's own timer ends a call; the client's timer is a fallback. */
const CLIENT_MARGIN_MS = 5_000;

class CallTimeoutError extends Error {}

function isTimeout(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof CallTimeoutError) return true;
    if (at instanceof EgressError && at.code === "egress.timeout") return true;
  }
  return false;
}

const unreachable: EndpointFault = { kind: "unreachable" };
const answered: EndpointFault = { kind: "answered" };

async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]);
}

/** Servers of older revisions hold a session for each client until it ends the session. */
async function closeClient(
  client: Client,
  transport: StreamableHTTPClientTransport,
): Promise<void> {
  await transport.terminateSession().catch(() => undefined);
  await client.close().catch(() => undefined);
}

function mintCallToken(
  { publicKey }: CallableAgent,
  { identity, runtime }: ForwardServices,
): Promise<string> {
  return mintToken({
    agentId: identity.relayId,
    deviceId: identity.relayId,
    secretKey: identity.secretKey,
    audience: hexToDidKey(publicKey),
    scope: ["task:submit"],
    now: runtime.now(),
    jti: newId(runtime),
  });
}

function buildArguments(task: TaskRow): Record<string, unknown> {
  const { prompt, task_id, delegation_token } = task;
  const capabilities = parseRequiredCapabilities(task);
  return {
    prompt,
    relay_task_id: task_id,
    ...(capabilities.length > 0 && { required_capabilities: capabilities }),
    ...(delegation_token !== null && { delegation_token }),
  };
}

function buildOrigin({ submitted_by, charge, wall_clock_ms }: TaskRow): TaskOrigin {
  return {
    ...(submitted_by !== null && { submitted_by }),
    estimated_cost: toDollars(charge),
    ...(wall_clock_ms !== null && { wall_clock_ms }),
  };
}

/** Returns the remaining time of the task and of the submitter's own limit, at most 330 s. */
function remainingTimeMs(task: TaskRow, now: number): number {
  const left = Math.min(task.expires_at - now, limits.forwardTimeoutMs);
  return Math.max(1, task.wall_clock_ms === null ? left : Math.min(left, task.wall_clock_ms));
}

/**
 * Parses the receipt: the JSON object of the first text block, with or without the tag line after it.
 */
function parseToolResult(result: unknown): ForwardResult {
  const parsed = v.safeParse(ToolResult, result);
  if (!parsed.success) return toFailure("no tool result", answered);
  const text = parsed.output.content.find((block) => block.type === "text")?.text ?? "";
  if (parsed.output.isError === true) return toFailure(text, answered);
  const json = text.replace(/\n\[agent:[^\n]*\]\s*$/, "");
  const receipt = parseJsonObject(json);
  return receipt.ok
    ? { ok: true, text: json, value: receipt.value }
    : toFailure("the tool result holds no receipt", answered);
}

function toFailure(reason: string, fault = unreachable): ForwardResult {
  return { ok: false, fault, reason: reason.slice(0, MAX_REASON_LENGTH) };
}
