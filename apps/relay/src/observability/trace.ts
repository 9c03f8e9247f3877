import { AsyncLocalStorage } from "node:async_hooks";

/** The trace of a caller (W3C Trace Context), which the relay's own requests continue. */
export interface Trace {
  readonly traceId: string;
  readonly flags: string;
  readonly state: string | null;
}

const currentTrace = new AsyncLocalStorage<Trace | undefined>();

const TRACEPARENT_PATTERN = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE_LENGTH = 512;

/** Parses the trace of a request; undefined if it is missing or malformed. */
export function parseTrace(headers: Headers): Trace | undefined {
  const given = headers.get("traceparent");
  if (given === null) return undefined;
  const [, traceId = "", parentId = "", flags = "", more] = TRACEPARENT_PATTERN.exec(given) ?? [];
  // Only a later version may have more fields.
  if (/^0*$/.test(traceId) || /^0*$/.test(parentId)) return undefined;
  if (given.startsWith("00-") && more !== undefined) return undefined;
  const state = headers.get("tracestate");
  return {
    traceId,
    flags,
    state: state !== null && state.length <= MAX_STATE_LENGTH ? state : null,
  };
}

/** Runs work in a trace. Without a trace it costs nothing. */
export function withTrace<T>(trace: Trace | undefined, run: () => T): T {
  return trace === undefined ? run() : currentTrace.run(trace, run);
}

/** Binds work that runs later to the current trace. Without a trace it is returned unchanged. */
export function bindCurrentTrace<Work extends (...args: never[]) => unknown>(work: Work): Work {
  return currentTrace.getStore() === undefined ? work : AsyncLocalStorage.bind(work);
}

/** Formats the current trace for a row, so that a job can continue it; null without one. */
export function formatCurrentTrace(): string | null {
  const trace = currentTrace.getStore();
  return trace === undefined ? null : JSON.stringify(trace);
}

/**
 * Runs the work of a row in the trace that the row stores. Without one the work belongs to no trace,
 * even if a request of another trace started it.
 */
export function withStoredTrace<T>(stored: string | null, run: () => T): T {
  if (stored !== null) return currentTrace.run(JSON.parse(stored) as Trace, run);
  return currentTrace.getStore() === undefined ? run() : currentTrace.run(undefined, run);
}

/** Creates the headers by which a request continues the current trace in a new span. */
export function createTraceHeaders(
  randomBytes: (length: number) => Uint8Array,
): Readonly<Record<string, string>> {
  const trace = currentTrace.getStore();
  if (trace === undefined) return {};
  const { traceId, flags, state } = trace;
  const span = Buffer.from(randomBytes(8)).toString("hex");
  return {
    traceparent: `00-${traceId}-${span}-${flags}`,
    ...(state !== null && { tracestate: state }),
  };
}

/** Returns the id of the current trace for the log. */
export function traceId(): string | undefined {
  return currentTrace.getStore()?.traceId;
}
