import { createClientAddressFinder } from "@agent/ip-networks";
import { FEDERATION_PREFIX, WITNESS_PREFIX } from "@agent/wire/engine";
import { LOG_PREFIX } from "./log/published-log.ts";
import { Hono, type Context } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { a2aHandlers } from "./a2a/routes.ts";
import { systemHandlers } from "./admin/routes.ts";
import { agentHandlers } from "./agents/routes.ts";
import { approvalHandlers } from "./approvals/routes.ts";
import { recordOperatorAct } from "./audit/operator-acts.ts";
import { budgetHandlers } from "./budget/routes.ts";
import { clockHandlers } from "./clock/routes.ts";
import { credentialHandlers } from "./credentials/routes.ts";
import { federationHandlers } from "./federation/routes.ts";
import { feedHandlers } from "./feed/routes.ts";
import type { FederationWork } from "./federation/federation-work.ts";
import { getBuiltAssets } from "./console/assets.ts";
import { createPageHandler, PAGE_PATHS } from "./console/routes.ts";
import { createAuthenticator } from "./http/server/authenticate.ts";
import { createIdempotency } from "./http/server/idempotency.ts";
import type { Handlers } from "./http/handler.ts";
import { mountOperations } from "./http/server/mount-operations.ts";
import { createRateLimiter, type RateLimiter } from "./http/limits/rate-limit.ts";
import { createJobs } from "./jobs.ts";
import { spendToken } from "./identity/spend-token.ts";
import { inspectionHandlers } from "./inspections/routes.ts";
import type { KeepUp } from "./processes/keep-up.ts";
import { ledgerHandlers } from "./ledger/routes.ts";
import { logHandlers } from "./log/routes.ts";
import { operatorHandlers } from "./operator/routes.ts";
import { pairingHandlers } from "./pairing/routes.ts";
import { paymentHandlers } from "./payments/routes.ts";
import { recordHandlers } from "./records/routes.ts";
import { releaseSockets } from "./realtime/release-sockets.ts";
import { mountSockets } from "./realtime/mount-sockets.ts";
import { routingHandlers } from "./routing/routes.ts";
import type { Services } from "./services.ts";
import { sessionHandlers } from "./sessions/routes.ts";
import { taskHandlers } from "./tasks/routes.ts";
import { webhookHandlers } from "./webhooks/routes.ts";
import { trustHandlers } from "./trust/routes.ts";
import { visibilityHandlers } from "./visibility/routes.ts";
import { witnessHandlers } from "./witness/routes.ts";

/** A relay as a function from requests to responses. Sockets, clock and process belong to main.ts. */
export interface Relay {
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>;
  /** Runs the background jobs that are due. */
  tick(): Promise<void>;
  /** Resolves when no job waits for another party. */
  idle(): Promise<void>;
  /**
   * Refuses new work from now on and notifies every connected device; resolves when all are notified. A
   * second call notifies the remaining devices at once.
   */
  drain(): Promise<void>;
}

interface RelayParts {
  /** Absent while federation is off. */
  readonly federationWork: FederationWork | undefined;
  readonly keepUp: KeepUp;
}

const MAX_RATE_LIMIT_ENTRIES = 100_000;

export function createRelay(services: Services, { federationWork, keepUp }: RelayParts): Relay {
  const { config, runtime, clock, log, connections, waiters, router } = services;
  let draining = false;
  const isDraining = () => draining;
  const authenticate = createAuthenticator(services);
  const findClientAddress = createClientAddressFinder(config.server.trustedProxies);
  const clientIp = (c: Context) =>
    findClientAddress(getSocketAddress(c.env), c.req.header("x-forwarded-for"));
  const limiter = createRateLimiter({
    scale: config.server.rateLimitScale,
    now: clock.elapsed,
    maxEntries: MAX_RATE_LIMIT_ENTRIES,
  });

  const idempotency = createIdempotency(services);

  const mayServe = () => keepUp.mayServe();
  const handlers = collectHandlers(services, { idempotency, limiter, isDraining, mayServe });

  // The default router would first try, at each start, another one that cannot hold these paths.
  const app = new Hono({ router: new TrieRouter() });
  mountSockets(app, { ...services, authenticate }, { isDraining, mayServe, clientIp, limiter });
  if (config.server.console !== "off") mountPages(app, services, { limiter, clientIp });
  mountOperations(app, {
    handlers,
    authenticate,
    limiter,
    idempotency,
    recordAct: (act, run) => recordOperatorAct(services, act, run),
    spendToken: (caller) => spendToken(services, caller),
    clientIp,
    corsOrigins: config.server.corsOrigins,
    runtime,
    elapsed: clock.elapsed,
    log,
    isDraining,
    isShared: services.storage.isShared,
    mayServe,
    recordRequest: services.metrics.recordRequest,
    freezeReason: () => services.freezer.frozen()?.reason,
    isPathDisabled: (path) =>
      (services.federation === undefined && path.startsWith(FEDERATION_PREFIX)) ||
      (services.witness === undefined && path.startsWith(WITNESS_PREFIX)) ||
      (!config.log.isOn && path.startsWith(LOG_PREFIX)),
  });

  return {
    fetch: app.fetch,
    ...createJobs(services, federationWork),
    drain() {
      // Devices have another process to go to.
      const isSpread = services.processes.isShared && !draining;
      draining = true;
      router.stop();
      federationWork?.stop();
      waiters.releaseAll();
      return releaseSockets([...connections.all()], { schedule: runtime.schedule, isSpread });
    },
  };
}

/** Collects the handlers of all operations. */
function collectHandlers(
  services: Services,
  {
    idempotency,
    limiter,
    isDraining,
    mayServe,
  }: {
    readonly idempotency: ReturnType<typeof createIdempotency>;
    readonly limiter: RateLimiter;
    readonly isDraining: () => boolean;
    readonly mayServe: () => boolean;
  },
): Handlers {
  const { router } = services;
  return {
    ...systemHandlers(services, isDraining),
    ...clockHandlers(services),
    ...logHandlers(services),
    ...agentHandlers(services, router.retryPendingFor),
    ...pairingHandlers(services),
    ...approvalHandlers(services),
    ...taskHandlers(services),
    ...inspectionHandlers(services),
    ...budgetHandlers(services),
    ...paymentHandlers(services),
    ...webhookHandlers(services),
    ...routingHandlers(services),
    ...trustHandlers(services),
    ...credentialHandlers(services),
    ...ledgerHandlers(services),
    ...recordHandlers(services),
    ...visibilityHandlers(services),
    ...a2aHandlers(services, idempotency),
    ...federationHandlers(services, { limiter, isDraining, mayServe }),
    ...witnessHandlers(services, limiter),
    ...feedHandlers(services),
    ...sessionHandlers(services),
    ...operatorHandlers(services, isDraining),
  };
}

/** Serves the pages; other answers of their paths are those of the contract. */
function mountPages(
  app: Hono,
  services: Services,
  {
    limiter,
    clientIp,
  }: { readonly limiter: RateLimiter; readonly clientIp: (c: Context) => string },
): void {
  const answerPage = createPageHandler(services, { limiter, assets: getBuiltAssets() });
  for (const path of PAGE_PATHS) {
    app.get(path, async (c, next) => answerPage(c.req.raw, clientIp(c)) ?? (await next()));
  }
}

/** The connection as the Node adapter passes it on; absent for requests within the process. */
function getSocketAddress(env: unknown): string | undefined {
  const incoming = (env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)
    ?.incoming;
  return incoming?.socket?.remoteAddress;
}
