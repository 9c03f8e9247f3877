export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Writes one event; `fields` hold no secret and no prompt. */
export type Log = (level: LogLevel, event: string, fields?: Record<string, unknown>) => void;

/** One JSON object per line, from `threshold` upwards. */
export function jsonLog(options: {
  threshold: LogLevel;
  now: () => number;
  write: (line: string) => void;
}): Log {
  const lowest = logLevels.indexOf(options.threshold);
  return (level, event, fields) => {
    if (logLevels.indexOf(level) < lowest) return;
    const ts = new Date(options.now()).toISOString();
    options.write(`${JSON.stringify({ ts, level, msg: event, service: "agent", ...fields })}\n`);
  };
}

/** For embedding an agent where nobody reads its log. */
export const silentLog: Log = () => {};
