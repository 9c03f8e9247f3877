import type { Answer, Operation, ParsedRequest } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { OperationName, Operations } from "../operations.ts";
import type { SaveResponse } from "./server/idempotency.ts";

/** What a handler may know of a request beside its parsed input. */
export interface RequestContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** With its query. */
  readonly path: string;
  readonly headers: globalThis.Headers;
  /** The request body as it arrived; a signed object is kept byte for byte. */
  readonly text: string;
  /** The parsed body before its schema, unknown members included; undefined where there is no body. */
  readonly raw: unknown;
  /** The address that the request is counted under. */
  readonly clientIp: () => string;
  /** Fires when the client goes away, and when the operator's token that it came with is removed. */
  readonly signal: AbortSignal;
  /** Of a request with an `Idempotency-Key`: to be called in the transaction of its effect. */
  readonly saveResponse?: SaveResponse;
}

export type Handler<O extends Operation> = (
  input: ParsedRequest<O>,
  context: RequestContext,
) => Promise<Answer<O>> | Answer<O>;

/** One handler for each operation of the table; a missing one does not compile. */
export type Handlers = { readonly [N in OperationName]: Handler<Operations[N]> };
