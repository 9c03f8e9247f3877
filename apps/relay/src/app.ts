import { federationPrefix } from "@agent/wire";
import { Hono, type Context } from "hono";
import { a2aHandlers } from "./a2a/routes.ts";
import { systemHandlers } from "./admin/routes.ts";
import { agentHandlers } from "./agents/routes.ts";
import { approvalHandlers } from "./approvals/routes.ts";
import { budgetHandlers } from "./budget/routes.ts";
import { clockHandlers } from "./clock/routes.ts";
import { credentialHandlers } from "./credentials/routes.ts";
import { federationHandlers } from "./federation/routes.ts";
import type { FederationWork } from "./federation/work.ts";
import { createAuthenticator } from "./http/authenticate.ts";
import { createClientIp } from "./http/client-ip.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { mount, type Handlers } from "./http/mount.ts";
import { createRateLimiter } from "./http/rate-limit.ts";
import { createJobs } from "./jobs.ts";
import { spendToken } from "./identity/spend-token.ts";
import { ledgerHandlers } from "./ledger/routes.ts";
import { pairingHandlers } from "./pairing/routes.ts";
import { paymentHandlers } from "./payments/routes.ts";
import { recordHandlers } from "./records/routes.ts";
import { mountSockets } from "./realtime/upgrade.ts";
import { routingHandlers } from "./routing/routes.ts";
import type { Services } from "./services.ts";
import { taskHandlers } from "./tasks/routes.ts";
import { webhookHandlers } from "./webhooks/routes.ts";
import { trustHandlers } from "./trust/routes.ts";
import { visibilityHandlers } from "./visibility/routes.ts";

/** A relay as a function from requests to answers; sockets, clock and process are main.ts's. */
export interface Relay {
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>;
  /** Runs the background jobs that are due. */
  tick(): Promise<void>;
  /** Resolves when no job waits for anybody outside any more. */
  idle(): Promise<void>;
  /** Refuses new work from now on, and says so to every connected device. */
  drain(): void;
}

const rateLimitEntries = 100_000;

export function createRelay(services: Services, work?: FederationWork): Relay {
  const { config, runtime, clock, log, tokens, connections, waiters, router } = services;
  const { operatorTokens } = services;
  let draining = false;
  const isDraining = () => draining;

  const authenticate = createAuthenticator(operatorTokens, tokens);
  const clientIpOf = createClientIp(config.server.trustedProxies);
  const clientIp = (c: Context) =>
    clientIpOf(socketAddress(c.env), c.req.header("x-forwarded-for"));
  const limiter = createRateLimiter({
    scale: config.server.rateLimitScale,
    now: clock.elapsed,
    maxEntries: rateLimitEntries,
  });

  const idempotency = createIdempotency(services);

  const handlers: Handlers = {
    ...systemHandlers(services, isDraining),
    ...clockHandlers(services),
    ...agentHandlers(services, router.bringWaiting),
    ...pairingHandlers(services),
    ...approvalHandlers(services),
    ...taskHandlers(services),
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
    ...federationHandlers(services, { limiter, draining: isDraining }),
  };

  const app = new Hono();
  mountSockets(app, { ...services, authenticate }, { draining: isDraining, clientIp, limiter });
  mount(app, {
    handlers,
    authenticate,
    limiter,
    idempotency,
    spendToken: (caller) => spendToken(services, caller),
    clientIp,
    corsOrigins: config.server.corsOrigins,
    runtime,
    elapsed: clock.elapsed,
    log,
    draining: isDraining,
    served: services.metrics.served,
    frozen: () => services.freezer.frozen() !== undefined,
    isOff: (path) => services.federation === undefined && path.startsWith(federationPrefix),
  });

  return {
    fetch: app.fetch,
    ...createJobs(services, work),
    drain() {
      draining = true;
      router.stop();
      work?.stop();
      waiters.releaseAll();
      for (const connection of connections.all()) {
        connection.send({ type: "draining" });
        connection.close(1001, "relay is shutting down");
      }
    },
  };
}

/** What the Node adapter hands on of the connection; absent when a request is made in process. */
function socketAddress(env: unknown): string | undefined {
  const incoming = (env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)
    ?.incoming;
  return incoming?.socket?.remoteAddress;
}
