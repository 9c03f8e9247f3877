import { createRedactor, isSecretName, REDACTED } from "@agent/wire";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Writes one event; `fields` must not hold secrets or prompts. */
export type Log = (level: LogLevel, event: string, fields?: Record<string, unknown>) => void;

/**
 * Creates a log of one JSON object per line, from `threshold` upwards. `secrets` and texts that
 * look like tokens are redacted in every line, because a tool's error may contain one.
 */
export function createJsonLog(options: {
  threshold: LogLevel;
  now: () => number;
  write: (line: string) => void;
  secrets?: readonly string[];
}): Log {
  const redact = createRedactor(options.secrets ?? []);
  const redactMember = (name: string, value: unknown): unknown => {
    if (isSecretName(name)) return REDACTED;
    return typeof value === "string" ? redact(value) : value;
  };
  const thresholdIndex = logLevels.indexOf(options.threshold);
  return (level, event, fields) => {
    if (logLevels.indexOf(level) < thresholdIndex) return;
    const ts = new Date(options.now()).toISOString();
    options.write(
      `${JSON.stringify({ ts, level, msg: event, service: "agent", ...fields }, redactMember)}\n`,
    );
  };
}

/** A log for embedded agents that discards everything. */
export const silentLog: Log = () => {};
