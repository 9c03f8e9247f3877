import { makeSafe } from "@agent/command-line";

/** Turns a line of the log into one for people: time, level, event and its fields. */
export function formatLogLine(line: string): string {
  const {
    ts,
    level,
    msg,
    service: _,
    correlationId,
    ...fields
  } = JSON.parse(line) as {
    ts: string;
    level: string;
    msg: string;
    service: string;
    correlationId: string;
  };
  const about = correlationId === "-" ? {} : { task: correlationId };
  const words = Object.entries({ ...about, ...fields }).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const mark = level === "info" ? "" : `${level.toUpperCase()} `;
  return makeSafe(`${ts.slice(11, 19)} ${mark}${msg} ${words.join(" ")}`.trimEnd());
}
