import { canonicalize, sha256Hex } from "@agent/crypto";

/** A tool call with its arguments. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
  readonly call_id: string;
  readonly step_id?: string | undefined;
}

/**
 * Returns the SHA-256, in lower-case hex, of the arguments' canonical JSON. A ledger contains nothing else
 * of the arguments (specification, Execution ledger). Throws CanonicalJsonError on arguments that have no
 * canonical JSON.
 */
export function hashArgs(args: unknown): string {
  return sha256Hex(canonicalize(args));
}

/**
 * Returns the payload of a `tool_invoked` event: the call with a hash in place of its arguments.
 */
export function redactToolCall({ args, tool, call_id, step_id }: ToolCall): {
  tool: string;
  args_hash: string;
  call_id: string;
  step_id?: string;
} {
  const payload = { tool, args_hash: hashArgs(args), call_id };
  return step_id === undefined ? payload : { ...payload, step_id };
}
