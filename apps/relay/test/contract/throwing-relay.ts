import { Hono } from "hono";
import { createLog } from "../../src/observability/log.ts";
import type { Handlers } from "../../src/http/handler.ts";
import { mountOperations } from "../../src/http/server/mount-operations.ts";
import { createRateLimiter } from "../../src/http/limits/rate-limit.ts";
import { operatorCaller } from "../../src/identity/caller.ts";
import { sendRequest, type Reply, type RequestOptions } from "../test-relay.ts";
import { operations, type OperationName } from "../../src/operations.ts";

/** Creates a relay whose handlers all throw, to test how the mounted operations answer. */
export function throwingRelay(error: Error) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const now = () => 1_760_000_000_000;
  const app = new Hono();
  mountOperations(app, {
    handlers: Object.fromEntries(
      (Object.keys(operations) as OperationName[]).map((name) => [
        name,
        () => Promise.reject(error),
      ]),
    ) as unknown as Handlers,
    authenticate: async () => ({ ok: true, caller: operatorCaller }),
    limiter: createRateLimiter({ scale: 0, now, maxEntries: 1 }),
    idempotency: { runOnce: (_, run) => run(async () => {}) as never },
    recordAct: (_, run) => Promise.resolve(run()),
    spendToken: async () => undefined,
    isShared: false,
    clientIp: () => "127.0.0.1",
    corsOrigins: "*",
    runtime: { now, randomBytes: (length) => new Uint8Array(length) },
    elapsed: now,
    log: createLog({ level: "debug", write: { stdout: write, stderr: write }, now }),
    recordRequest: () => {},
    isDraining: () => false,
    freezeReason: () => undefined,
    mayServe: () => true,
    isPathDisabled: () => false,
  });
  return {
    lines,
    request: (method: string, path: string, options?: RequestOptions): Promise<Reply> =>
      sendRequest(app.fetch, method, path, options),
  };
}
