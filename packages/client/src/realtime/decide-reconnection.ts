import { limits, socketClose } from "@agent/wire";
import { fullJitter } from "../calls/backoff.ts";

const BACKOFF = { baseMs: 500, capMs: 30_000 } as const;
/** A connection that lived this long was a good one, and the next backoff starts anew. */
const STABLE_MS = 30_000;
/** A token may be refused because a clock is off or a key just changed, but not again and again. */
const MAX_REJECTIONS = 3;

/** How a connection ended, or an attempt at one. */
export interface SocketEnd {
  /** WebSocket close code; 1006 when there was no closing handshake. */
  readonly code: number;
  readonly reason: string;
  /** HTTP status, where the upgrade was refused. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** How long the relay had accepted the device; undefined when it did not. */
  readonly readyForMs?: number;
}

/** Failures in a row since the last good connection. */
export interface Failures {
  readonly attempts: number;
  readonly rejections: number;
}

export const noFailures: Failures = { attempts: 0, rejections: 0 };

export type Reconnection =
  | { readonly retry: true; readonly inMs: number; readonly failures: Failures }
  /** The relay refuses this device, and trying on would only burden it. */
  | { readonly retry: false };

/** Whether and when to connect again after a connection ended. */
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
    end.code === socketClose.tooManyMessages
      ? limits.socketWindowMs
      : (end.retryAfterSeconds ?? 0) * 1_000;
  return {
    retry: true,
    inMs: floorMs + fullJitter(attempts, BACKOFF, randomBytes),
    failures: { attempts: attempts + 1, rejections },
  };
}

function isRejection({ code, status }: SocketEnd): boolean {
  return code === socketClose.unauthorized || status === 401 || status === 403 || status === 404;
}
