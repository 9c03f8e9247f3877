import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallAnswer, FailureKind } from "./tools/calling/call-tool.ts";

const codes: Readonly<Record<FailureKind, ProtocolErrorCode>> = {
  unknown: ProtocolErrorCode.InvalidParams,
  invalid: ProtocolErrorCode.InvalidParams,
  denied: ProtocolErrorCode.InvalidRequest,
  aborted: ProtocolErrorCode.InternalError,
  failed: ProtocolErrorCode.InternalError,
};

/** For resources and prompts: unlike a tool's result, theirs has no place for a failure. */
export function toProtocolError({ kind, error }: CallAnswer & { ok: false }): ProtocolError {
  return new ProtocolError(codes[kind], error);
}
