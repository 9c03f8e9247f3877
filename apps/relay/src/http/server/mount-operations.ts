import {
  limits,
  refuse,
  type Answer,
  type AnswerHeaders,
  type MediaAnswer,
  type Operation,
  type ParsedRequest,
  type Refusal,
} from "@agent/wire";
import type { Context, Hono } from "hono";
import * as v from "valibot";
import { anonymousCaller, type Caller } from "../../identity/caller.ts";
import type { Runtime } from "../../runtime.ts";
import { StorageFrozen, StorageUnavailable } from "../../storage/storage.ts";
import { authorize, type createAuthenticator } from "./authenticate.ts";
import { parseJsonObject, readBodyText } from "./body.ts";
import { buildCorsHeaders, buildPreflightHeaders } from "./cors.ts";
import type { Idempotency, SaveResponse } from "./idempotency.ts";
import type { Log } from "../../observability/log.ts";
import { createMediaResponse } from "./media-response.ts";
import { buildRateLimitHeaders } from "../limits/rate-limit-headers.ts";
import type { RateLimiter } from "../limits/rate-limit.ts";
import { createRefusalResponse, getRequestId } from "./refusal-response.ts";
import { parseTrace, traceId, withTrace } from "../../observability/trace.ts";
import { validate } from "./validate.ts";
import { operations, type OperationName, type Operations } from "../../operations.ts";

/** What a handler may know of a request beside its parsed input. */
export interface RequestContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** With its query. */
  readonly path: string;
  readonly headers: globalThis.Headers;
  /** The request body as it arrived; a signed object is kept byte for byte. */
  readonly text: string;
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

export interface MountOptions {
  readonly handlers: Handlers;
  readonly authenticate: ReturnType<typeof createAuthenticator>;
  readonly limiter: RateLimiter;
  readonly idempotency: Idempotency;
  /** Refuses a token that has opened a single-use operation before. */
  readonly spendToken: (caller: Caller) => Promise<Refusal | undefined>;
  readonly clientIp: (context: Context) => string;
  readonly corsOrigins: "*" | readonly string[];
  readonly runtime: Pick<Runtime, "now" | "randomBytes">;
  /** Milliseconds that only ever pass, by which the time of an answer is measured. */
  readonly elapsed: () => number;
  readonly log: Log;
  /** Counts a request that was answered. */
  readonly recordRequest: (operation: OperationName, status: number, seconds: number) => void;
  readonly isDraining: () => boolean;
  readonly isFrozen: () => boolean;
  /** Paths that this relay does not serve. */
  readonly isPathDisabled: (path: string) => boolean;
}

type Identified = Awaited<ReturnType<MountOptions["authenticate"]>>;

type HandlerAnswer =
  | { readonly status: number; readonly body: unknown; readonly headers?: AnswerHeaders }
  | MediaAnswer
  | Refusal;

type ResponseHeaders = Record<string, string>;

/** Serves the operation table: every rule that holds for all operations is kept here, once. */
export function mountOperations(app: Hono, options: MountOptions): void {
  const { runtime, log } = options;

  const requestId = (c: Context) => getRequestId(c, runtime);

  function headersFor(c: Context, id: string): ResponseHeaders {
    return {
      "content-type": "application/json",
      "x-request-id": id,
      ...buildCorsHeaders(options.corsOrigins, c.req.header("origin")),
    };
  }

  /** The cause of a failure is for the log; the caller gets the request id to name it by. */
  function answerFailure(error: unknown, c: Context, id: string): Response {
    if (error instanceof StorageFrozen)
      return createRefusalResponse(refuseFrozen(), id, headersFor(c, id));
    const code = error instanceof StorageUnavailable ? "server.unavailable" : "server.failed";
    log.error("request.failed", {
      request_id: id,
      trace_id: traceId(),
      code,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return createRefusalResponse(refuse(code), id, headersFor(c, id));
  }

  function createRoute(name: OperationName) {
    const operation: Operation = operations[name];
    const handle = options.handlers[name] as unknown as Handler<Operation>;

    return async (c: Context): Promise<Response> => {
      const startedAt = options.elapsed();
      const response = await withTrace(parseTrace(c.req.raw.headers), () => respondTo(c));
      options.recordRequest(name, response.status, (options.elapsed() - startedAt) / 1_000);
      return response;
    };

    async function respondTo(c: Context): Promise<Response> {
      const id = requestId(c);
      const headers = headersFor(c, id);
      try {
        const answer = await handleRequest(c, name, handle, id, headers);
        if ("ok" in answer) return createRefusalResponse(answer, id, headers);
        if ("mediaType" in answer) return createMediaResponse(answer, headers);
        Object.assign(headers, answer.headers);
        if (answer.status === 204) {
          delete headers["content-type"];
          return new Response(null, { status: 204, headers });
        }
        if (operation.rawAnswer) {
          return new Response(String(answer.body), { status: answer.status, headers });
        }
        const schema = operation.ok[answer.status];
        // Parsing strips what the contract does not name, so no row member leaks.
        const body = schema === undefined ? answer.body : v.parse(schema, answer.body);
        return new Response(JSON.stringify(body), { status: answer.status, headers });
      } catch (error) {
        return answerFailure(error, c, id);
      }
    }
  }

  async function handleRequest(
    c: Context,
    name: OperationName,
    handle: Handler<Operation>,
    id: string,
    headers: ResponseHeaders,
  ): Promise<HandlerAnswer> {
    const operation: Operation = operations[name];
    if (operation.tier !== null) {
      if (options.isDraining()) return { ...refuse("server.draining"), retryAfterSeconds: 10 };
      const decision = options.limiter.take(
        limits.tiers[operation.tier],
        limits.rateWindowMs,
        `${operation.tier} ${options.clientIp(c)}`,
      );
      Object.assign(headers, buildRateLimitHeaders(operation.tier, decision));
      if (!decision.allowed) {
        return { ...refuse("rate.exceeded"), retryAfterSeconds: decision.retryAfterSeconds };
      }
    }

    const identified = await identifyCaller(operation, c.req.header("authorization"));
    if (!identified.ok) return identified;
    const { caller } = identified;
    const params = c.req.param() as Record<string, string>;
    const forbidden = authorize(operation, caller, params);
    if (forbidden !== undefined) return forbidden;
    const writes = operation.method !== "GET" && !operation.whileFrozen;
    if (writes && options.isFrozen()) return refuseFrozen();

    const query = validate(operation.query, c.req.query());
    if (!query.ok) return query;
    let text = "";
    let body: unknown;
    if (operation.body !== undefined) {
      const read = await readBodyText(c.req.raw);
      if (!read.ok) return read;
      text = read.text;
      const parsed = parseJsonObject(text);
      if (!parsed.ok) return parsed;
      const checked = operation.rawBody
        ? { ok: true as const, value: parsed.value }
        : validate(operation.body, parsed.value);
      if (!checked.ok) return checked;
      body = checked.value;
    }

    const input = { params, query: query.value, body } as ParsedRequest<Operation>;
    if (isTokenRemoved(caller)) return refuse("auth.unknown_token");
    const { headers: requestHeaders } = c.req.raw;
    const signal = combineSignals(c.req.raw, caller);
    const clientIp = () => options.clientIp(c);
    const path = getPathAndQuery(c.req.url);
    const context = {
      caller,
      requestId: id,
      path,
      clientIp,
      headers: requestHeaders,
      text,
      signal,
    };
    if (operation.singleUse) {
      const spent = await options.spendToken(caller);
      if (spent !== undefined) return spent;
    }
    const run = (saveResponse?: SaveResponse) =>
      handle(input, saveResponse === undefined ? context : { ...context, saveResponse }) as Promise<
        Exclude<HandlerAnswer, MediaAnswer>
      >;
    const key = operation.keyed ? c.req.header("idempotency-key") : undefined;
    if (key === undefined) return run();
    const request = { operation: name, path: c.req.path, params, caller, key, text, body };
    return options.idempotency.runOnce(request, run);
  }

  /** The caller, as far as the operation's row asks for one. */
  function identifyCaller(
    { auth, readsCaller }: Operation,
    header: string | undefined,
  ): Identified | Promise<Identified> {
    if (readsCaller === true && header !== undefined) return identifyIfKnown(header);
    // A relay's signature is over the body, so it is asked for where that has been read.
    if (auth === "public" || auth === "peer") return { ok: true, caller: anonymousCaller };
    return options.authenticate(header);
  }

  async function identifyIfKnown(header: string): Promise<Identified> {
    const known = await options.authenticate(header);
    return known.ok ? known : { ok: true, caller: anonymousCaller };
  }

  for (const [path, names] of listPathsInOrder()) {
    if (options.isPathDisabled(path)) continue;
    for (const name of names) app.on(operations[name].method, path, createRoute(name));
    app.all(path, (c) => answerOtherMethod(c, names));
  }

  function answerOtherMethod(c: Context, names: readonly OperationName[]): Response {
    const id = requestId(c);
    const methods: string[] = names.map((name) => operations[name].method);
    if (methods.includes("GET")) methods.push("HEAD");
    const allow = [...methods, "OPTIONS"].join(", ");
    const headers: ResponseHeaders = { ...headersFor(c, id), allow };
    if (c.req.method !== "OPTIONS")
      return createRefusalResponse(refuse("route.method_not_allowed"), id, headers);
    const { "content-type": _, ...bodiless } = headers;
    return new Response(null, {
      status: 204,
      headers: { ...bodiless, ...buildPreflightHeaders(allow) },
    });
  }
  app.notFound((c) => {
    const id = requestId(c);
    return createRefusalResponse(refuse("route.not_found"), id, headersFor(c, id));
  });
  app.onError((error, c) => answerFailure(error, c, requestId(c)));
}

/** Whether the operator's token was removed while the body was on its way. */
function isTokenRemoved(caller: Caller): boolean {
  return caller.kind === "master" && caller.removed.aborted;
}

function combineSignals({ signal }: Request, caller: Caller): AbortSignal {
  return caller.kind === "master" ? AbortSignal.any([signal, caller.removed]) : signal;
}

/** Path and query of an absolute URL, as they stand in it. */
function getPathAndQuery(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("//") + 2));
}

const refuseFrozen = () => ({ ...refuse("server.frozen"), retryAfterSeconds: 60 });

/** Fixed paths come before those with parameters, so that `:agentId` never takes `bootstrap`. */
function listPathsInOrder(): [string, OperationName[]][] {
  const byPath = new Map<string, OperationName[]>();
  for (const name of Object.keys(operations) as OperationName[]) {
    const { path } = operations[name];
    byPath.set(path, [...(byPath.get(path) ?? []), name]);
  }
  return [...byPath].sort(([a], [b]) => Number(a.includes(":")) - Number(b.includes(":")));
}
