import type { Contract } from "../outcome.ts";

export const systemContract: Contract<
  "health" | "live" | "ready" | "relayInfo" | "openApi" | "metrics" | "docs" | "reconcile"
> = {
  health: { 200: (t) => t.request("GET", "/health") },
  live: { 200: (t) => t.request("GET", "/health/live") },
  ready: {
    200: (t) => t.request("GET", "/health/ready"),
    "server.draining": async (t) => {
      await t.relay.drain();
      return t.request("GET", "/health/ready");
    },
    "server.not_ready": async (t) => {
      await t.relay.tick();
      await t.clock.advance(600_000);
      return t.request("GET", "/health/ready");
    },
    "server.unavailable": async (t) => {
      await t.close();
      return t.request("GET", "/health/ready");
    },
  },
  metrics: { 200: (t) => t.asOperator("GET", "/metrics") },
  docs: { 200: (t) => t.request("GET", "/docs") },
  relayInfo: { 200: (t) => t.request("GET", "/.well-known/agent-relay.json") },
  openApi: {
    200: (t) => t.request("GET", "/openapi.json"),
    304: (t) => t.request("GET", "/openapi.json", { headers: { "if-none-match": "*" } }),
  },
  reconcile: { 200: (t) => t.asOperator("GET", "/api/v1/admin/reconciliation") },
};
