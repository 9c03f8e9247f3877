import type { Answer, Operation, ParsedRequest } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { OperationName, Operations } from "../operations.ts";
import type { SaveResponse } from "./server/idempotency.ts";

/** The parts of a request that a handler may read beside its parsed input. */
export interface RequestContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: globalThis.Headers;
  /** The request body as it arrived, because a signed object is stored byte for byte. */
  readonly text: string;
  /** The parsed body before validation, including unknown members; undefined if there is no body. */
  readonly raw: unknown;
  /** The address of the client, by whose networks the request is counted. */
  readonly clientIp: () => string;
  /** Fires when the client disconnects and when the operator token of the request is removed. */
  readonly signal: AbortSignal;
  /** Whether the token of the request was removed or revoked since the request came. */
  readonly hasTokenEnded: () => Promise<boolean>;
  /** Present with an `Idempotency-Key`; must be called in the transaction of the effect. */
  readonly saveResponse?: SaveResponse;
}

export type Handler<O extends Operation> = (
  input: ParsedRequest<O>,
  context: RequestContext,
) => Promise<Answer<O>> | Answer<O>;

/** One handler for each operation of the table. A missing one does not compile. */
export type Handlers = { readonly [N in OperationName]: Handler<Operations[N]> };
