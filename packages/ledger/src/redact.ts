import { canonicalize, sha256Hex } from "@agent/crypto";

/** A call of a tool before its arguments are taken out. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
  readonly call_id: string;
  readonly step_id?: string | undefined;
}

/**
 * The SHA-256, in lowercase hex, of the arguments' canonical JSON: all that a ledger tells of them
 * (specification, Execution ledger). Throws on arguments that have no canonical JSON.
 */
export function hashArgs(args: unknown): string {
  return sha256Hex(canonicalize(args));
}

/** The payload of a `tool_invoked` event: the call with a hash in the place of its arguments. */
export function redactToolCall({ args, tool, call_id, step_id }: ToolCall): {
  tool: string;
  args_hash: string;
  call_id: string;
  step_id?: string;
} {
  const payload = { tool, args_hash: hashArgs(args), call_id };
  return step_id === undefined ? payload : { ...payload, step_id };
}
