import type * as v from "valibot";
import type { Code } from "../errors.ts";
import type { Refusal } from "./refusal.ts";
import type { Tier } from "./limits.ts";

/** The scopes of signed tokens (docs/decisions.md, 2). */
export const scopes = [
  "task:submit",
  "task:read",
  "task:result",
  "agent:write",
  "account:read",
  "account:write",
  "credentials:read",
  "ledger:write",
  "approvals:vote",
  "socket",
  "pair",
] as const;

export type Scope = (typeof scopes)[number];

/**
 * Returns whether the granted scopes include a scope. `agent:write` includes `approvals:vote`, which is
 * separate so that a browser can be allowed to vote and nothing else.
 */
export function isScopeGranted(granted: ReadonlySet<string>, scope: Scope): boolean {
  return granted.has(scope) || (scope === "approvals:vote" && granted.has("agent:write"));
}

/** The level that a console session needs for an operation. */
export type OperatorLevel = "view" | "operate" | "never";

type Schema = v.GenericSchema;

/**
 * One row of the contract, the only source of routing, authentication, rate limits, validation, client
 * types and OpenAPI.
 */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path with `:name` parameters. */
  readonly path: string;
  /** The last parameter matches the rest of the path, including slashes. */
  readonly restOfPath?: true;
  readonly summary: string;
  /** The section of the specification, by which OpenAPI groups the operations. */
  readonly section: string;
  /**
   * `public`: no token. `bearer`: master or signed token. `master`: master token only. `peer`: the
   * three signed headers of another relay.
   */
  readonly auth: "public" | "bearer" | "master" | "peer";
  /**
   * The console sessions that may call it: all (`view`), only those that may act (`operate`), or none
   * (`never`). If absent, `getOperatorLevel` decides.
   */
  readonly operator?: OperatorLevel;
  /**
   * The exception to the rule which calls the operator's audit records (`isAudited`): `always`, because
   * showing texts of agents is its purpose or because it decides about an agent's money; `never`, because it
   * shows an agent's figures and keys only, which the pages of the operator read again and again.
   */
  readonly audited?: "always" | "never";
  /** For a public operation only: a valid token identifies the caller, an invalid one is ignored. */
  readonly readsCaller?: true;
  /** With a signed token, the caller must be the `agentId` of the path. */
  readonly ownerOnly?: true;
  /** The scope that a signed token must contain. */
  readonly scope?: Scope;
  /** A device may call it about itself (the path's `deviceId`) without the scope. */
  readonly ownDevice?: true;
  /** A signed token is accepted only once, by its `jti`. */
  readonly singleUse?: true;
  /**
   * The rate-limit tier; null for probes and for most operations of peers, which are limited by the peer's
   * id.
   */
  readonly tier: Tier | null;
  readonly query?: Schema;
  /** The headers that the handler reads, with their descriptions. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Schema;
  /** The body is text of any media type and at most this many bytes in UTF-8; `body` is a string. */
  readonly textBytes?: number;
  /** The handler validates the body itself, because a signed object must not be changed by a schema. */
  readonly rawBody?: true;
  /** Creates tasks or moves money; a request with an `Idempotency-Key` is executed only once. */
  readonly keyed?: true;
  /** The handler returns JSON as text or bytes, which are sent unchanged. */
  readonly rawAnswer?: true;
  /** Allowed while the relay is frozen; GET operations always are. */
  readonly whileFrozen?: true;
  /** Media types of answers other than JSON; if `ok` is a string, there are no JSON answers. */
  readonly media?: readonly string[];
  readonly ok: { readonly [status: number]: Schema };
  readonly refusals: readonly Code[];
}

export function defineOperation<const O extends Operation>(definition: O): O {
  return definition;
}

/** The `:name` parameters of a path as an object of strings. */
export type PathParams<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : unknown;

type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;
type Input<S> = S extends Schema ? v.InferInput<S> : undefined;

export type QueryOf<O extends Operation> = Output<O["query"]>;
export type BodyOf<O extends Operation> = Output<O["body"]>;

/** The parsed and validated input of a handler. */
export interface ParsedRequest<O extends Operation> {
  readonly params: PathParams<O["path"]>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
}

/**
 * A success: one of the declared statuses with its declared body. `ok` may be omitted; a refusal
 * always has `ok: false`.
 */
export type SuccessAnswer<O extends Operation> = {
  [S in keyof O["ok"] & number]: {
    readonly ok?: true;
    readonly status: S;
    readonly body: O["rawAnswer"] extends true
      ? string | Uint8Array<ArrayBuffer>
      : Input<O["ok"][S]>;
    readonly headers?: AnswerHeaders;
  };
}[keyof O["ok"] & number];

/** Headers of one answer, names in lower case. */
export type AnswerHeaders = { readonly [name: string]: string };

/** An answer that is not JSON: text or bytes of a declared media type, or a streamed text. */
export interface MediaAnswer<M extends string = string> {
  readonly ok?: true;
  /** 409 if a third-party protocol defines it with a text body. */
  readonly status: 200 | 409;
  readonly mediaType: M;
  readonly content: string | Uint8Array<ArrayBuffer> | AsyncIterable<string>;
  readonly headers?: AnswerHeaders;
}

type Media<O extends Operation> = O extends { readonly media: readonly (infer M extends string)[] }
  ? MediaAnswer<M>
  : never;

/**
 * Refusals shared by the handlers of peers' requests, which check the signed headers themselves. The last
 * four codes are answers of only some of them, whose rows declare these codes.
 */
export type PeerRefusal = Refusal<
  | "server.draining"
  | "server.unavailable"
  | "rate.exceeded"
  | "federation.signature_invalid"
  | "federation.timestamp_expired"
  | "federation.wrong_receiver"
  | "federation.wrong_sender"
  | "federation.replayed"
  | "peer.suspended"
  | "peer.not_pending"
>;

/** The answer of a handler: a declared success or a declared refusal. */
export type Answer<O extends Operation> =
  | SuccessAnswer<O>
  | Media<O>
  | Refusal<O["refusals"][number]>
  | (O["auth"] extends "peer" ? PeerRefusal : never);

/**
 * The type of an answer as a reader receives it. Its enumerations may contain values of later versions
 * (`extensibleEnum`), unlike the schema's input type, which is for the answering side.
 */
export type Received<S extends Schema> = v.InferOutput<S>;

/** The input of a client. */
export interface OperationRequest<O extends Operation> {
  readonly params: PathParams<O["path"]>;
  readonly query?: Input<O["query"]>;
  readonly body?: Input<O["body"]>;
}

/** The answer that a client receives on success. */
export type Result<O extends Operation> =
  | { [S in keyof O["ok"]]: Output<O["ok"][S]> }[keyof O["ok"]]
  | (O extends { readonly media: readonly string[] } ? string : never);
