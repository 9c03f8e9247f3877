import type * as v from "valibot";
import type { Code, Refusal } from "./errors.ts";
import type { Tier } from "./limits.ts";

/** What a signed token may be used for (docs/decisions.md, 2). */
export const scopes = [
  "task:submit",
  "task:read",
  "task:result",
  "agent:write",
  "account:read",
  "account:write",
  "credentials:read",
  "ledger:write",
  "socket",
  "pair",
] as const;

export type Scope = (typeof scopes)[number];

type Schema = v.GenericSchema;

/**
 * One row of the contract. Router, authentication, limiter, validation, client types and OpenAPI read
 * this and nothing else.
 */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path with `:name` parameters. */
  readonly path: string;
  readonly summary: string;
  /** Section of the specification; groups the operations in OpenAPI. */
  readonly section: string;
  /**
   * `public`: no token. `bearer`: master or signed token. `master`: master token only. `peer`: the
   * three signed headers of another relay.
   */
  readonly auth: "public" | "bearer" | "master" | "peer";
  /** Of a public operation: a token that comes along and holds names the caller, any other counts for nothing. */
  readonly readsCaller?: true;
  /** Under a signed token the path's `agentId` has to be the caller. */
  readonly ownerOnly?: true;
  /** The word that a signed token's `scope` has to hold. */
  readonly scope?: Scope;
  /** A signed token opens this door once: its `jti` is taken. */
  readonly singleUse?: true;
  /** Rate-limit tier; probes of an orchestrator have none. */
  readonly tier: Tier | null;
  readonly query?: Schema;
  /** Headers that its handler reads, and what they say. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Schema;
  /** The handler checks the body itself: a signed object has to arrive as it was sent. */
  readonly rawBody?: true;
  /** Creates tasks or moves money: a call with an `Idempotency-Key` happens once. */
  readonly keyed?: true;
  /** The handler answers JSON text, which goes out as it was stored. */
  readonly rawAnswer?: true;
  /** Does not write, or is what the operator needs meanwhile. Reads need not say so. */
  readonly whileFrozen?: true;
  /** Media types beside JSON that it can answer with; where `ok` is a string, it answers those only. */
  readonly media?: readonly string[];
  readonly ok: { readonly [status: number]: Schema };
  readonly refusals: readonly Code[];
}

export function defineOperation<const O extends Operation>(definition: O): O {
  return definition;
}

/** The `:name` parameters of a path, as an object of strings. */
export type PathParams<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : unknown;

type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;
type Input<S> = S extends Schema ? v.InferInput<S> : undefined;

export type QueryOf<O extends Operation> = Output<O["query"]>;
export type BodyOf<O extends Operation> = Output<O["body"]>;

/** What a handler is given: everything parsed and validated. */
export interface ParsedRequest<O extends Operation> {
  readonly params: PathParams<O["path"]>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
}

/** A success: one of the declared statuses with the body that it declares. */
export type SuccessAnswer<O extends Operation> = {
  [S in keyof O["ok"] & number]: {
    readonly status: S;
    readonly body: O["rawAnswer"] extends true ? string : Input<O["ok"][S]>;
    readonly headers?: AnswerHeaders;
  };
}[keyof O["ok"] & number];

/** Headers of one answer, in lower case. */
export type AnswerHeaders = { readonly [name: string]: string };

/** A success that is no JSON: text of one of the declared media types, at once or piece by piece. */
export interface MediaAnswer<M extends string = string> {
  readonly status: 200;
  readonly mediaType: M;
  readonly content: string | AsyncIterable<string>;
  readonly headers?: AnswerHeaders;
}

type Media<O extends Operation> = O extends { readonly media: readonly (infer M extends string)[] }
  ? MediaAnswer<M>
  : never;

/**
 * What the handlers of relays' requests share: they read the signed headers themselves. The last four
 * codes are for some of them only, and stand in the rows of those.
 */
export type PeerRefusal = Refusal<
  | "server.draining"
  | "rate.exceeded"
  | "federation.signature_invalid"
  | "federation.timestamp_expired"
  | "federation.wrong_receiver"
  | "federation.wrong_sender"
  | "federation.replayed"
  | "peer.suspended"
  | "peer.not_pending"
>;

/** What a handler may answer: a declared success or a declared refusal. */
export type Answer<O extends Operation> =
  | SuccessAnswer<O>
  | Media<O>
  | Refusal<O["refusals"][number]>
  | (O["auth"] extends "peer" ? PeerRefusal : never);

/**
 * What a reader gets of a schema of answers: its enumerations may hold words of later versions
 * (`extensibleEnum`), which the schema's own type, that of the side that answers, does not.
 */
export type Received<S extends Schema> = v.InferOutput<S>;

/** What a client sends. */
export interface OperationRequest<O extends Operation> {
  readonly params: PathParams<O["path"]>;
  readonly query?: Input<O["query"]>;
  readonly body?: Input<O["body"]>;
}

/** What a client receives on success. */
export type Result<O extends Operation> =
  | { [S in keyof O["ok"]]: Output<O["ok"][S]> }[keyof O["ok"]]
  | (O extends { readonly media: readonly string[] } ? string : never);
