import { limits, socketClose } from "@agent/wire";
import { fullJitter, RECONNECTION_BACKOFF } from "../calls/full-jitter.ts";
import { getRequestedWaitMs } from "../calls/retry-after.ts";

/** After a connection of at least this duration the backoff starts again. */
const STABLE_MS = 30_000;
/** A clock error or a new key may cause single rejections; after this many the relay refuses the device. */
const MAX_REJECTIONS = 3;

/** The end of a connection or of an attempt to connect. */
export interface SocketEnd {
  /** The WebSocket close code; 1006 without a closing handshake. */
  readonly code: number;
  readonly reason: string;
  /** The HTTP status if the upgrade was refused. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** The time in ms since the relay accepted the device; undefined if it did not. */
  readonly readyForMs?: number;
}

/** Consecutive failures since the last stable connection. */
export interface Failures {
  readonly attempts: number;
  readonly rejections: number;
}

export const noFailures: Failures = { attempts: 0, rejections: 0 };

export type Reconnection =
  | { readonly retry: true; readonly inMs: number; readonly failures: Failures }
  /** The relay refuses this device, so no further attempt is made. */
  | { readonly retry: false };

/** Decides whether and when to connect again after a connection ended. */
export function decideReconnection(
  end: SocketEnd,
  before: Failures,
  randomBytes: (length: number) => Uint8Array,
): Reconnection {
  const stable = (end.readyForMs ?? 0) >= STABLE_MS;
  const attempts = stable ? 0 : before.attempts;
  const rejected = end.readyForMs === undefined && isRejection(end);
  const rejections = rejected ? before.rejections + 1 : 0;
  if (rejections >= MAX_REJECTIONS) return { retry: false };
  const floorMs =
    end.code === socketClose.tooManyMessages ? limits.socketWindowMs : getRequestedWaitMs(end);
  return {
    retry: true,
    inMs: floorMs + fullJitter(attempts, RECONNECTION_BACKOFF, randomBytes),
    failures: { attempts: attempts + 1, rejections },
  };
}

function isRejection({ code, status }: SocketEnd): boolean {
  return code === socketClose.unauthorized || status === 401 || status === 403 || status === 404;
}
