import type { Code, Issue } from "@agent/wire";

/** Why there is no answer of the relay to speak of. */
export type TransportCode =
  | "network.unreachable"
  | "network.timeout"
  | "network.aborted"
  | "response.malformed"
  | "response.too_large";

/** A newer relay may refuse with codes that this client has not heard of. */
export type RefusalCode = Code | TransportCode | (string & Record<never, never>);

/** A call without the result it asked for: the relay's refusal, or the transport's failure. */
export interface CallRefusal {
  readonly ok: false;
  readonly code: RefusalCode;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly message: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
  /** Names the call in the relay's log. */
  readonly requestId?: string;
}

/** A refusal that this side makes itself. */
export function refusal(code: RefusalCode, message: string, status = 0): CallRefusal {
  return { ok: false, code, status, message };
}
