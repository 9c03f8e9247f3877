import type { Handlers } from "../http/handler.ts";
import { refuse } from "@agent/wire";
import type { Services } from "../services.ts";
import { refuseField } from "../http/server/validate.ts";
import { getContractPage, getContractFile } from "./contract.ts";
import { acceptsGzip, isTagKnown } from "../http/caching.ts";
import { loadDisputeTerms } from "../inspections/reading/dispute-terms.ts";
import { buildLogStatement } from "../log/published-log.ts";
import { buildRelayInfo } from "./relay-info.ts";
import { getFreezeReport } from "./freeze-report.ts";
import { registerRelayMetrics } from "./register-relay-metrics.ts";
import { checkReadiness } from "./check-readiness.ts";
import { reconcile } from "./reconcile.ts";

type SystemHandlers = Pick<
  Handlers,
  | "health"
  | "live"
  | "ready"
  | "relayInfo"
  | "openApi"
  | "metrics"
  | "docs"
  | "reconcile"
  | "freeze"
  | "getFreeze"
  | "unfreeze"
>;

const METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Any cache may keep the contract for five minutes: it changes only with the relay's version. */
const CONTRACT_CACHING = "public, max-age=300";

/** The page of the contract has its style in it, and no script. */
const DOCS_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function systemHandlers(services: Services, isDraining: () => boolean): SystemHandlers {
  const { freezer, router, log } = services;
  const liveAnswer = { status: 200, body: { status: "ok" } } as const;
  registerRelayMetrics(services.metrics, services, isDraining);
  return {
    health: () => ({ status: 200, body: { status: "ok", incarnation: freezer.incarnation } }),
    live: () => liveAnswer,
    ready: () => checkReadiness(services, isDraining()),
    async metrics() {
      const { registry } = services.metrics;
      return { status: 200, mediaType: METRICS_MEDIA_TYPE, content: await registry.metrics() };
    },
    docs: () => ({
      status: 200,
      mediaType: "text/html; charset=utf-8",
      content: getContractPage(),
      headers: {
        "content-security-policy": DOCS_POLICY,
        "cache-control": CONTRACT_CACHING,
      },
    }),
    async relayInfo() {
      const disputes = await loadDisputeTerms(services);
      return {
        status: 200,
        body: { ...buildRelayInfo(services), disputes, log: buildLogStatement(services) },
      };
    },
    openApi(_, { headers: given }) {
      const isZipped = acceptsGzip(given.get("accept-encoding"));
      const { bytes, etag } = getContractFile(isZipped ? "gzip" : "identity");
      const headers = { etag, "cache-control": CONTRACT_CACHING, vary: "Accept-Encoding" };
      if (isTagKnown(given.get("if-none-match"), etag)) return { status: 304, body: "", headers };
      const coding = { "content-encoding": "gzip" };
      return { status: 200, body: bytes, headers: { ...headers, ...(isZipped && coding) } };
    },
    reconcile: () => reconcile(services),
    getFreeze: () => ({ status: 200, body: getFreezeReport(freezer) }),
    async freeze({ body }, { caller }) {
      const by = caller.kind === "master" ? caller.name : "operator";
      const frozen = await freezer.freeze(body.reason, by);
      log.warn("relay.frozen", { reason: frozen.reason });
      return { status: 200, body: { frozen: true, ...frozen } };
    },
    async unfreeze({ body }) {
      await freezer.refresh();
      if (freezer.frozen()?.damaged === true) return refuse("server.damaged");
      if (freezer.frozen()?.restored === true && body.restored !== true) {
        return refuseField(
          "restored",
          "must be true: the database was restored from a backup, so compare the pending withdrawals and the peers that the start has listed first",
        );
      }
      await freezer.unfreeze();
      services.jobMonitor.resetAges();
      log.info("relay.unfrozen", {});
      // Devices were not offered tasks that became due in the meantime.
      void router.retryAllPending();
      return { status: 200, body: { frozen: false, reason: null, since: null } };
    },
  };
}
