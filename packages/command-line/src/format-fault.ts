import { formatSafeJson, makeSafe } from "./safe-text.ts";

/** A call that had no effect: refused by a server, by a network on the way, or for its arguments. */
export interface CommandFault {
  readonly code: string;
  readonly message: string;
  /** The HTTP status; 0 if no server has answered. */
  readonly status: number;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
  readonly issues?: readonly unknown[];
}

/** Builds the fault of arguments that do not fit a command. */
export function buildUsageFault(message: string): CommandFault {
  return { code: "command.invalid", message, status: 0 };
}

/**
 * Formats a fault as one line of JSON in the form of the error bodies of an API, for programs that read the
 * output of `--json`: for them an empty output would be invalid JSON.
 */
export function formatFault({
  message,
  requestId,
  retryAfterSeconds,
  ...members
}: CommandFault): string {
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

/** The two outputs for a call that was refused. */
export interface RefusalOutput {
  readonly out: string;
  readonly err: string;
}

/** Formats a wrong call: one line and a hint for people, because a whole help would hide the fault. */
export function formatUsageRefusal({
  program,
  message,
  usage,
  isJson,
}: {
  readonly program: string;
  readonly message: string;
  /** The forms of the command, if it is known; otherwise the hint is the help. */
  readonly usage?: string | undefined;
  readonly isJson: boolean;
}): RefusalOutput {
  const hint = usage === undefined ? `try ${program} --help` : `usage: ${program} ${usage}`;
  return {
    out: isJson ? formatFault(buildUsageFault(message)) : "",
    err: `${program}: ${makeSafe(message)}\n${hint}\n`,
  };
}
