import { publicKeyToDidKey, hexToBytes } from "@agent/crypto";
import { mintToken } from "@agent/client";
import { limits } from "@agent/wire";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import * as v from "valibot";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { AgentRow, TaskRow } from "../storage/tables.ts";

export type Forwarded =
  | { readonly ok: true; readonly text: string; readonly value: object }
  | { readonly ok: false; readonly reason: string };

const ToolResult = v.object({
  isError: v.optional(v.boolean()),
  content: v.array(v.looseObject({ type: v.string(), text: v.optional(v.string()) })),
});

/**
 * Has an agent's own MCP endpoint execute a task, and brings back the receipt that it answers. The
 * relay signs in with a token of its own for this agent alone, never with a configured secret.
 */
export async function forwardOverMcp(
  { runtime, identity, egress }: Pick<Services, "runtime" | "identity" | "egress">,
  task: TaskRow,
  agent: AgentRow,
): Promise<Forwarded> {
  const { endpoint_url: endpoint, public_key: publicKey } = agent;
  if (endpoint === null || publicKey === null)
    return { ok: false, reason: "no endpoint or no key" };
  const url = egress.checkUrl(endpoint);
  if (!url.ok) return { ok: false, reason: url.detail };
  const timeout = forwardTime(task, runtime.now());
  const token = await mintToken({
    agentId: identity.relayId,
    deviceId: identity.relayId,
    secretKey: identity.secretKey,
    audience: publicKeyToDidKey(hexToBytes(publicKey)),
    scope: ["task:submit"],
    now: runtime.now(),
    jti: newId(runtime),
  });
  const client = new Client(
    { name: "agent-relay", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
    fetch: egress.withTimeout(timeout),
    requestInit: { headers: { authorization: `Bearer agent:${token}` } },
  });
  try {
    await client.connect(transport);
    const capabilities = JSON.parse(task.required_capabilities) as string[];
    const result = await client.callTool(
      {
        name: "agent_task",
        arguments: {
          prompt: task.prompt,
          relay_task_id: task.task_id,
          ...(capabilities.length > 0 && { required_capabilities: capabilities }),
        },
      },
      { timeout, maxTotalTimeout: timeout },
    );
    return receiptIn(result);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await client.close().catch(() => undefined);
  }
}

/** What is left of the task's time, and of the submitter's own bound, up to 330 s. */
function forwardTime(task: TaskRow, now: number): number {
  const left = Math.min(task.expires_at - now, limits.forwardTimeoutMs);
  return Math.max(1, task.wall_clock_ms === null ? left : Math.min(left, task.wall_clock_ms));
}

/** The receipt is the JSON object of the first text block, with or without the tag line behind it. */
function receiptIn(result: unknown): Forwarded {
  const parsed = v.safeParse(ToolResult, result);
  if (!parsed.success) return { ok: false, reason: "no tool result" };
  const text = parsed.output.content.find((block) => block.type === "text")?.text;
  if (parsed.output.isError === true) return { ok: false, reason: text ?? "tool error" };
  const json = text?.replace(/\n\[agent:[^\n]*\]\s*$/, "");
  try {
    const value: unknown = JSON.parse(json ?? "");
    if (typeof value === "object" && value !== null) return { ok: true, text: json ?? "", value };
  } catch {
    // Falls through: what is no JSON is no receipt.
  }
  return { ok: false, reason: "the tool result holds no receipt" };
}
