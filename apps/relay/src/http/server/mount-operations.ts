import { refuse, type Operation, type Refusal } from "@agent/wire";
import type { Context, Hono } from "hono";
import { buildPreflightHeaders } from "./cors.ts";
import { failureResponse, responseHeaders } from "./operation-response.ts";
import { createRefusalResponse, getRequestId } from "./refusal-response.ts";
import { serveOperation, type ServeOptions } from "./serve-operation.ts";
import { operations, type OperationName } from "../../operations.ts";
import { refuseField } from "./validate.ts";

export interface MountOptions extends ServeOptions {
  /** Paths that this relay does not serve. */
  readonly isPathDisabled: (path: string) => boolean;
}

/** Serves the operation table and refuses every other path and method. */
export function mountOperations(app: Hono, options: MountOptions): void {
  const frameOf = (c: Context) => {
    const id = getRequestId(c, options.runtime);
    return { id, headers: responseHeaders(c, id, options.corsOrigins) };
  };

  for (const [path, names] of listPathsInOrder()) {
    if (options.isPathDisabled(path)) continue;
    const isRestTaken = names.some((name) => (operations[name] as Operation).restOfPath === true);
    const route = isRestTaken ? `${path}{.+}` : path;
    for (const name of names) app.on(operations[name].method, route, serveOperation(options, name));
    app.all(route, (c) => answerOtherMethod(c, names));
  }

  function answerOtherMethod(c: Context, names: readonly OperationName[]): Response {
    const methods: string[] = names.map((name) => operations[name].method);
    if (methods.includes("GET")) methods.push("HEAD");
    const allow = [...methods, "OPTIONS"].join(", ");
    const { id, headers } = frameOf(c);
    if (c.req.method !== "OPTIONS") {
      return createRefusalResponse(refuse("route.method_not_allowed"), id, { ...headers, allow });
    }
    const { "content-type": _, ...bodiless } = headers;
    return new Response(null, {
      status: 204,
      headers: { ...bodiless, allow, ...buildPreflightHeaders(allow) },
    });
  }

  app.notFound((c) => {
    const { id, headers } = frameOf(c);
    return createRefusalResponse(refuseUnknownPath(c.req), id, headers);
  });
  app.onError((error, c) => failureResponse(error, options.log, frameOf(c)));
}

/**
 * Names the parameter that is empty in a path, as an unset variable of a shell leaves it. A write without
 * its parameter is invalid (specification, "Errors": a task without `agent_id`); a read finds nothing.
 */
function refuseUnknownPath({ method, path }: Context["req"]): Refusal {
  const given = path.split("/");
  const emptyAt = given.indexOf("", 1);
  if (emptyAt === -1) return refuse("route.not_found");
  const fitting = Object.values<Operation>(operations).filter(({ path: pattern }) => {
    const wanted = pattern.split("/");
    const fits = (part: string, at: number) => part === given[at] || part.startsWith(":");
    return wanted.length === given.length && wanted.every(fits);
  });
  const missing = fitting[0]?.path.split("/")[emptyAt]?.slice(1);
  if (missing === undefined) return refuse("route.not_found");
  const isWrite = method !== "GET" && fitting.some((operation) => operation.method === method);
  return isWrite
    ? refuseField(missing, "is required")
    : refuse("route.not_found", `${missing} is missing`);
}

/** Orders fixed paths before those with parameters, so that `:agentId` never matches `bootstrap`. */
function listPathsInOrder(): [string, OperationName[]][] {
  const byPath = new Map<string, OperationName[]>();
  for (const name of Object.keys(operations) as OperationName[]) {
    const { path } = operations[name];
    byPath.set(path, [...(byPath.get(path) ?? []), name]);
  }
  return [...byPath].sort(([a], [b]) => Number(a.includes(":")) - Number(b.includes(":")));
}
