import {
  isAudited,
  limits,
  refuse,
  type Operation,
  type ParsedRequest,
  type Refusal,
} from "@agent/wire";
import type { Context } from "hono";
import { omitTexts } from "../../identity/omit-texts.ts";
import type { Caller } from "../../identity/caller.ts";
import { ACT_REASON_HEADER, readActReason } from "../../identity/read-act-reason.ts";
import type { Runtime } from "../../runtime.ts";
import {
  authorize,
  identifyAgain,
  identifyCaller,
  type createAuthenticator,
} from "./authenticate.ts";
import { parseJsonObject, readBodyText, readPlainText } from "./body.ts";
import type { Handler, Handlers, RequestContext } from "../handler.ts";
import type { Idempotency, SaveResponse } from "./idempotency.ts";
import type { Log } from "../../observability/log.ts";
import {
  failureResponse,
  operationResponse,
  refuseFrozen,
  responseHeaders,
  type OperationResult,
  type ResponseHeaders,
} from "./operation-response.ts";
import { buildRateLimitHeaders } from "../limits/rate-limit-headers.ts";
import type { RateLimiter } from "../limits/rate-limit.ts";
import { takeForClient } from "../limits/take-for-client.ts";
import { getRequestId } from "./refusal-response.ts";
import { parseTrace, withTrace } from "../../observability/trace.ts";
import { operations, type OperationName } from "../../operations.ts";
import { validate } from "./validate.ts";

/** An action of the operator: its operation, with the parameters of the path and the members of the body. */
interface RecordedAct {
  readonly actor: string;
  readonly action: OperationName;
  readonly detail: object;
}

/** The parts that serve every operation. */
export interface ServeOptions {
  readonly handlers: Handlers;
  readonly authenticate: ReturnType<typeof createAuthenticator>;
  readonly limiter: RateLimiter;
  readonly idempotency: Idempotency;
  /** Refuses a token that was already used for a single-use operation. */
  readonly spendToken: (caller: Caller) => Promise<Refusal | undefined>;
  /** Runs an action of the operator and records it in its audit. */
  readonly recordAct: (act: RecordedAct, run: Run) => Promise<OperationResult>;
  readonly clientIp: (context: Context) => string;
  readonly corsOrigins: "*" | readonly string[];
  readonly runtime: Pick<Runtime, "now" | "randomBytes">;
  /** Monotonic milliseconds, to measure the duration of requests. */
  readonly elapsed: () => number;
  readonly log: Log;
  /** Counts an answered request. */
  readonly recordRequest: (operation: OperationName, status: number, seconds: number) => void;
  readonly isDraining: () => boolean;
  /** Returns undefined while the relay is not frozen. */
  readonly freezeReason: () => string | undefined;
  /** Whether other processes may use the database, and end tokens there. */
  readonly isShared: boolean;
  /** False while this process may not be alive for the others that share its database, or its clock is wrong. */
  readonly mayServe: () => boolean;
}

/** The state of a request between the steps. */
interface Exchange {
  readonly c: Context;
  readonly name: OperationName;
  readonly operation: Operation;
  /** The parameters of the path. */
  readonly params: Record<string, string>;
  readonly id: string;
  /** The time at which the request arrived, in ms. */
  readonly receivedAt: number;
  /** The headers of the response; a step may add its own. */
  readonly headers: ResponseHeaders;
}

/** The parts of a request that its operation declares. */
interface Input {
  readonly ok: true;
  readonly parsed: ParsedRequest<Operation>;
  readonly text: string;
  readonly raw: unknown;
}

/** Serves one row of the operation table. It applies the rules that all operations share. */
export function serveOperation(
  options: ServeOptions,
  name: OperationName,
): (c: Context) => Promise<Response> {
  const { runtime, elapsed, log, corsOrigins } = options;
  const operation: Operation = operations[name];

  async function respond(c: Context): Promise<Response> {
    const id = getRequestId(c, runtime);
    const isPrivate = operation.auth !== "public" || c.req.header("authorization") !== undefined;
    const headers = {
      ...responseHeaders(c, id, corsOrigins),
      // A cache must not show one caller what another one may read.
      ...(isPrivate && { "cache-control": "no-store" }),
    };
    try {
      const result = await runSteps(options, {
        c,
        name,
        operation,
        params: c.req.param(),
        id,
        receivedAt: runtime.now(),
        headers,
      });
      return operationResponse(operation, result, { id, headers });
    } catch (error) {
      return failureResponse(error, log, { id, headers: responseHeaders(c, id, corsOrigins) });
    }
  }

  return async (c) => {
    const startedAt = elapsed();
    const response = await withTrace(parseTrace(c.req.raw.headers), () => respond(c));
    options.recordRequest(name, response.status, (elapsed() - startedAt) / 1_000);
    return response;
  };
}

/** Runs the steps until the first one refuses. */
async function runSteps(options: ServeOptions, exchange: Exchange): Promise<OperationResult> {
  const limited = limitRate(options, exchange);
  if (limited !== undefined) return limited;
  const header = exchange.c.req.header("authorization");
  const identified = await identifyCaller(options, exchange.operation, header);
  if (!identified.ok) return identified;
  const { caller } = identified;
  const record = createActRecorder(options, exchange, caller);
  const forbidden = checkAccess(options, exchange, caller);
  if (forbidden !== undefined) return record({}, () => forbidden);
  const input = await readInput(exchange);
  if (!input.ok) return record({}, () => input);
  // A body can take half a minute to arrive, and a token can end in the meantime. Operations that write ask
  // the database, because another process may have just revoked the token.
  const again = { header, at: exchange.receivedAt };
  const isFresh = options.isShared && exchange.operation.method !== "GET";
  const current = await identifyAgain(options, caller, { ...again, isFresh });
  if (!current.ok) return record({}, () => current);
  const used = await checkToken(options, exchange, current.caller);
  if (used !== undefined) return record({}, () => used);
  const run = () => handle(options, exchange, current.caller, input);
  const answer = await record(input.parsed.body, run);
  if (exchange.operation.method !== "GET") return answer;
  // A long poll may have waited a minute for what it shows.
  const reader = await identifyAgain(options, current.caller, again);
  return reader.ok ? answer : reader;
}

type Run = () => Promise<OperationResult> | OperationResult;

/** Records what the operator tries in its audit, also what is refused; runs the calls of others as they are. */
function createActRecorder(
  { recordAct }: ServeOptions,
  { c, name, operation, params }: Exchange,
  caller: Caller,
): (body: unknown, run: Run) => Promise<OperationResult> | OperationResult {
  if (caller.kind !== "master" || !isAudited(operation, caller.session !== undefined)) {
    return (_body, run) => run();
  }
  return (body, run) => {
    const stated = readActReason(c.req.header(ACT_REASON_HEADER));
    const detail = { ...stated, ...params, ...omitTexts(body) };
    return recordAct({ actor: caller.name, action: name, detail }, run);
  };
}

function limitRate(
  { isDraining, mayServe, limiter, clientIp }: ServeOptions,
  { c, operation: { tier }, headers }: Exchange,
): Refusal | undefined {
  if (tier === null) return undefined;
  if (isDraining()) return { ...refuse("server.draining"), retryAfterSeconds: 10 };
  if (!mayServe()) return { ...refuse("server.unavailable"), retryAfterSeconds: 2 };
  const decision = takeForClient(limiter, { tier, limit: limits.tiers[tier] }, clientIp(c));
  Object.assign(headers, buildRateLimitHeaders(tier, decision));
  if (decision.allowed) return undefined;
  return { ...refuse("rate.exceeded"), retryAfterSeconds: decision.retryAfterSeconds };
}

function checkAccess(
  { freezeReason }: ServeOptions,
  { operation, params }: Exchange,
  caller: Caller,
): Refusal | undefined {
  const forbidden = authorize(operation, caller, params);
  if (forbidden !== undefined) return forbidden;
  const writes = operation.method !== "GET" && !operation.whileFrozen;
  const reason = writes ? freezeReason() : undefined;
  return reason === undefined ? undefined : refuseFrozen(reason);
}

/** Reads, parses and validates the input. The query comes first: its refusal needs no body. */
async function readInput({ c, operation, params }: Exchange): Promise<Input | Refusal> {
  const query = validate(operation.query, c.req.query());
  if (!query.ok) return query;
  const inputOf = (body: unknown, text: string, raw: unknown): Input => ({
    ok: true,
    parsed: { params, query: query.value, body } as ParsedRequest<Operation>,
    text,
    raw,
  });
  if (operation.body === undefined) return inputOf(undefined, "", undefined);
  if (operation.textBytes !== undefined) {
    const plain = await readPlainText(c.req.raw, operation.textBytes);
    return plain.ok ? inputOf(plain.text, plain.text, plain.text) : plain;
  }
  const read = await readBodyText(c.req.raw);
  if (!read.ok) return read;
  const { text } = read;
  const json = parseJsonObject(text);
  if (!json.ok) return json;
  const raw = json.value;
  if (operation.rawBody) return inputOf(raw, text, raw);
  const checked = validate(operation.body, raw);
  return checked.ok ? inputOf(checked.value, text, raw) : checked;
}

/** Refuses a token that was already used for an operation that takes each token once. */
function checkToken(
  { spendToken }: ServeOptions,
  { operation }: Exchange,
  caller: Caller,
): Promise<Refusal | undefined> | Refusal | undefined {
  return operation.singleUse ? spendToken(caller) : undefined;
}

function handle(
  options: ServeOptions,
  exchange: Exchange,
  caller: Caller,
  { parsed, text, raw }: Input,
): Promise<OperationResult> | OperationResult {
  const { handlers, idempotency, clientIp } = options;
  const { c, name, operation, params, id, receivedAt } = exchange;
  const handler = handlers[name] as unknown as Handler<Operation>;
  const { raw: request } = c.req;
  const context: RequestContext = {
    caller,
    requestId: id,
    path: getPathAndQuery(request.url),
    headers: request.headers,
    text,
    raw,
    clientIp: () => clientIp(c),
    signal: combineSignals(request, caller),
    async hasTokenEnded() {
      const again = { header: request.headers.get("authorization") ?? undefined, at: receivedAt };
      return !(await identifyAgain(options, caller, again)).ok;
    },
  };
  const key = operation.keyed ? c.req.header("idempotency-key") : undefined;
  if (key === undefined) return handler(parsed, context);
  const { path } = c.req;
  const keyed = { operation: name, path, params, caller, key, text, body: parsed.body };
  // Operations with an idempotency key answer JSON, so their responses can be saved.
  type Keepable = Exclude<OperationResult, { readonly mediaType: string }>;
  return idempotency.runOnce(
    keyed,
    (saveResponse: SaveResponse) =>
      handler(parsed, { ...context, saveResponse }) as Promise<Keepable> | Keepable,
  );
}

function combineSignals({ signal }: Request, caller: Caller): AbortSignal {
  return caller.kind === "master" ? AbortSignal.any([signal, caller.removed]) : signal;
}

/** Returns path and query of an absolute URL unchanged. */
function getPathAndQuery(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("//") + 2));
}
