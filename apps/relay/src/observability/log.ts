import { createRedactor } from "@agent/wire";
import { encodeLogMember, encodeLogValue } from "./log-value.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** The fields of an event. `correlationId` is usually the task id, or `-` without one. */
export interface LogFields {
  readonly [name: string]: unknown;
  readonly service?: "relay" | "federation";
  readonly correlationId?: string;
  readonly ts?: never;
  readonly level?: never;
  readonly msg?: never;
}

type LogWrite = (msg: string, fields?: LogFields) => void;

export interface Log {
  readonly debug: LogWrite;
  readonly info: LogWrite;
  readonly warn: LogWrite;
  readonly error: LogWrite;
  /** The same log with these fields on every line. */
  child(fields: LogFields): Log;
}

/** The log of a process. Its children redact the same values. */
export interface RootLog extends Log {
  /** Redacts these values too from now on, like `secrets` of the options. */
  addSecrets(secrets: readonly string[]): void;
}

export interface LogOptions {
  /** The lowest level that is written. */
  readonly level: LogLevel;
  /** Each writes one line and adds its line end. */
  readonly write: {
    readonly stdout: (line: string) => void;
    readonly stderr: (line: string) => void;
  };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Values that are redacted anywhere in a line. */
  readonly secrets?: readonly string[];
}

const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Writes one JSON object per line, errors to stderr and all others to stdout (spec, "Relay log events"). */
export function createLog({ level: minLevel, write, now, secrets = [] }: LogOptions): RootLog {
  const redact = createRedactor(secrets);
  const timestamp = createTimestampFormatter(now);

  function formatLine(level: LogLevel, msg: string, fields: LogFields): string {
    const { service = "relay", correlationId = "-", ...event } = fields;
    let text =
      `{"ts":"${timestamp()}","level":"${level}","msg":${encodeLogValue(msg, redact)}` +
      `,"service":"${service}","correlationId":${encodeLogValue(correlationId, redact)}`;
    for (const name in event) {
      const value = event[name];
      if (value === undefined) continue;
      text += `,${encodeLogMember(name, value, redact, 1)}`;
    }
    return `${text}}`;
  }

  function createChild(bound: LogFields): Log {
    const writerAt = (level: LogLevel): LogWrite => {
      if (logLevels.indexOf(level) < logLevels.indexOf(minLevel)) return () => undefined;
      const out = level === "error" ? write.stderr : write.stdout;
      return (msg, fields) => {
        out(formatLine(level, msg, fields === undefined ? bound : { ...bound, ...fields }));
      };
    };
    return {
      debug: writerAt("debug"),
      info: writerAt("info"),
      warn: writerAt("warn"),
      error: writerAt("error"),
      child: (fields) => createChild({ ...bound, ...fields }),
    };
  }

  return { ...createChild({}), addSecrets: (more) => redact.add(more) };
}

/** Caches the text of the time, because formatting it costs more than the rest of a line. */
function createTimestampFormatter(now: () => number): () => string {
  let last = Number.NaN;
  let text = "";
  return () => {
    const time = now();
    if (time !== last) {
      last = time;
      text = new Date(time).toISOString();
    }
    return text;
  };
}
