import { errors, type Code, type Issue } from "@agent/wire";

/** The codes of failures without a valid answer of the relay. */
export type TransportCode =
  | "network.unreachable"
  | "network.timeout"
  | "network.aborted"
  | "response.malformed"
  | "response.too_large";

/** A refusal code; a newer relay may use codes that this client does not know. */
export type RefusalCode = Code | TransportCode | (string & Record<never, never>);

/** A failed call: a refusal of the relay or a failure of the transport. */
export interface CallRefusal {
  readonly ok: false;
  readonly code: RefusalCode;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  readonly message: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
  /** Identifies the call in the relay's log. */
  readonly requestId?: string;
}

/** Builds a refusal by the client itself. */
export function refusal(code: RefusalCode, message: string, status = 0): CallRefusal {
  return { ok: false, code, status, message };
}

/**
 * Returns whether a refusal has a code of a relay of this version. Any other code comes from the client,
 * from a later version, or from a proxy in front of the relay, whose errors may have the same form.
 */
export function isOfRelay({ code }: Pick<CallRefusal, "code">): boolean {
  return Object.hasOwn(errors, code);
}
