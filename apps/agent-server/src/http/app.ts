import {
  createMcpHandler,
  validateHostHeader,
  validateOriginHeader,
  type Server,
} from "@modelcontextprotocol/server";
import { Hono, type MiddlewareHandler } from "hono";
import type { Approvals } from "../policy/approvals.ts";
import type { Runtime } from "../runtime.ts";
import type { AnswerCall } from "../mcp-servers.ts";
import { createApprovalRoutes } from "./approval-routes.ts";
import type { Authenticate } from "./authentication/authenticate.ts";
import { createFastPath, type FastPath } from "./fast-path/fast-path.ts";
import { createMcpRoute } from "./mcp-route.ts";
import { markPrivate } from "./private-answers.ts";
import { refuseRequest, type HttpEnv } from "./refuse-request.ts";
import { createRequestIdSource } from "./fast-path/request-ids.ts";
import { createSessions } from "./sessions.ts";

export interface HttpApp {
  readonly fetch: (request: Request, origin?: HttpEnv["Bindings"]) => Response | Promise<Response>;
  /** Tried before `fetch`. */
  readonly fastPath: FastPath;
  close(): Promise<void>;
}

/**
 * Creates the HTTP application. `/health` is public; all other paths check the Host and Origin
 * first, then the caller, then the body. One URL serves both protocol eras: the older in sessions,
 * the newer request by request.
 */
export function createHttpApp(options: {
  agentId: string;
  allowedHostnames: readonly string[];
  authenticate: Authenticate;
  newServer: () => Server;
  answerCall: AnswerCall;
  approvals: Approvals;
  /** Returns the agent card for the well-known path of A2A. */
  card?: () => object;
  runtime: Runtime;
}): HttpApp {
  const { card, agentId, authenticate, newServer, answerCall, runtime } = options;
  const hostnames = [...options.allowedHostnames];
  const sessions = createSessions({ newServer, runtime });
  const getRequestId = createRequestIdSource(runtime);
  const modernHandler = createMcpHandler(() => newServer(), { legacy: "reject" });
  const app = new Hono<HttpEnv>();

  app.use(async (c, next) => {
    c.set("requestId", getRequestId(c.req.header("x-request-id")));
    c.header("X-Request-Id", c.var.requestId);
    return next();
  });

  // Registered before the Host check because probes use any address of the server.
  app.get("/health", (c) => {
    c.header("X-Content-Type-Options", "nosniff");
    return c.json({ status: "ok", agent_id: agentId });
  });
  app.all("/health", (c) => refuseRequest(c, "route.method_not_allowed", { Allow: "GET, HEAD" }));

  app.use(markPrivate);

  app.use(async (c, next) => {
    const host = validateHostHeader(c.req.header("host"), hostnames);
    if (!host.ok) return refuseRequest(c, "request.host_not_allowed");
    const origin = validateOriginHeader(c.req.header("origin"), hostnames);
    if (!origin.ok) return refuseRequest(c, "request.origin_not_allowed");
    return next();
  });

  app.use(identifyCaller(authenticate));

  app.on(["POST", "GET", "DELETE"], "/mcp", createMcpRoute({ sessions, modern: modernHandler }));
  app.all("/mcp", (c) =>
    refuseRequest(c, "route.method_not_allowed", { Allow: "GET, POST, DELETE" }),
  );

  if (card !== undefined) {
    app.get("/.well-known/agent-card.json", (c) => c.json(card()));
    app.all("/.well-known/agent-card.json", (c) =>
      refuseRequest(c, "route.method_not_allowed", { Allow: "GET, HEAD" }),
    );
  }

  app.route("/approvals", createApprovalRoutes(options.approvals));

  app.notFound((c) => refuseRequest(c, "route.not_found"));
  app.onError((cause, c) => {
    runtime.log("error", "http.failed", { request_id: c.var.requestId, cause: String(cause) });
    return refuseRequest(c, "server.failed");
  });

  return {
    fetch: (request, origin = {}) => app.fetch(request, origin),
    fastPath: createFastPath({
      hostnames,
      authenticate,
      sessions,
      answerCall,
      requestIdOf: getRequestId,
      runtime,
    }),
    async close() {
      await Promise.allSettled([sessions.close(), modernHandler.close()]);
    },
  };
}

/** Lets only requests of identified callers through. */
function identifyCaller(authenticate: Authenticate): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const authorization = c.req.header("authorization") ?? null;
    const authenticated = await authenticate(authorization, {
      socketAddress: c.env.incoming?.socket.remoteAddress,
      forwardedFor: c.req.header("x-forwarded-for"),
    });
    if (!authenticated.ok) {
      const { code, retryAfterSeconds } = authenticated;
      const canRetry = retryAfterSeconds !== undefined;
      return refuseRequest(c, code, canRetry ? { "Retry-After": String(retryAfterSeconds) } : {});
    }
    c.set("caller", authenticated.caller);
    return next();
  };
}
