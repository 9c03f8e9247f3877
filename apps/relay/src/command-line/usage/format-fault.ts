import { formatSafeJson } from "../format-blocks.ts";

/** A call that had no effect: refused by the relay, by a network on the way, or for its arguments. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  /** The HTTP status; 0 if the relay has not answered. */
  readonly status: number;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
  readonly issues?: readonly unknown[];
}

/** Builds the fault of arguments that do not fit a command. */
export function buildUsageFault(message: string): Fault {
  return { code: "command.invalid", message, status: 0 };
}

/**
 * Formats a fault as one line of JSON in the form of the relay's error bodies, for programs that read the
 * output of `--json`: for them an empty output would be invalid JSON.
 */
export function formatFault({ message, requestId, retryAfterSeconds, ...members }: Fault): string {
  const { code, status, issues } = members;
  const body = {
    error: message,
    message,
    code,
    status,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    ...(issues !== undefined && { issues }),
  };
  return `${formatSafeJson(body)}\n`;
}
