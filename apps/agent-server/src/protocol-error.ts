import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallAnswer, FailureKind } from "./tools/calling/call-tool.ts";

const codes: Readonly<Record<FailureKind, ProtocolErrorCode>> = {
  unknown: ProtocolErrorCode.InvalidParams,
  invalid: ProtocolErrorCode.InvalidParams,
  denied: ProtocolErrorCode.InvalidRequest,
  unavailable: ProtocolErrorCode.InternalError,
  aborted: ProtocolErrorCode.InternalError,
  failed: ProtocolErrorCode.InternalError,
};

/**
 * Converts a failed call to an error of the protocol, because the results of resources and prompts
 * cannot state a failure.
 */
export function toProtocolError({ kind, error }: CallAnswer & { ok: false }): ProtocolError {
  return new ProtocolError(codes[kind], error);
}
