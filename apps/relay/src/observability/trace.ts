import { AsyncLocalStorage } from "node:async_hooks";

/** A caller's trace (W3C Trace Context), which goes on in what the relay asks of others for it. */
export interface Trace {
  readonly traceId: string;
  readonly flags: string;
  readonly state: string | null;
}

const currentTrace = new AsyncLocalStorage<Trace | undefined>();

const traceparentPattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE_LENGTH = 512;

/** The trace that a request belongs to; undefined where it names none, or none that is well-formed. */
export function parseTrace(headers: Headers): Trace | undefined {
  const given = headers.get("traceparent");
  if (given === null) return undefined;
  const [, traceId = "", parentId = "", flags = "", more] = traceparentPattern.exec(given) ?? [];
  // Only a version that is not known yet may say more.
  if (/^0*$/.test(traceId) || /^0*$/.test(parentId)) return undefined;
  if (given.startsWith("00-") && more !== undefined) return undefined;
  const state = headers.get("tracestate");
  return {
    traceId,
    flags,
    state: state !== null && state.length <= MAX_STATE_LENGTH ? state : null,
  };
}

/** Runs what belongs to a trace. Without one nothing is carried along, and nothing costs. */
export function withTrace<T>(trace: Trace | undefined, run: () => T): T {
  return trace === undefined ? run() : currentTrace.run(trace, run);
}

/** The same work for later, in the trace at hand; without one it stays as it is, and costs nothing. */
export function bindCurrentTrace<Work extends (...args: never[]) => unknown>(work: Work): Work {
  return currentTrace.getStore() === undefined ? work : AsyncLocalStorage.bind(work);
}

/** The trace at hand as a row keeps it, so that a job can go on in it; null without one. */
export function formatCurrentTrace(): string | null {
  const trace = currentTrace.getStore();
  return trace === undefined ? null : JSON.stringify(trace);
}

/**
 * Runs what a row causes in the trace that the row keeps. Without a kept trace the work belongs to no
 * trace, also when a request of another trace happened to begin it.
 */
export function withStoredTrace<T>(stored: string | null, run: () => T): T {
  if (stored !== null) return currentTrace.run(JSON.parse(stored) as Trace, run);
  return currentTrace.getStore() === undefined ? run() : currentTrace.run(undefined, run);
}

/** The headers by which a request goes on in the trace that it is made for, under a span of its own. */
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

/** The id of the trace at hand, for the log. */
export function traceId(): string | undefined {
  return currentTrace.getStore()?.traceId;
}
