import type { Config } from "../config.ts";
import { OWN_FEATURES } from "../federation/own-features.ts";
import type { Handlers } from "../http/handler.ts";
import { toSuccessionMember } from "../identity/relay-identity.ts";
import type { Services } from "../services.ts";
import { refuseField } from "../http/server/validate.ts";
import { version } from "../version.ts";
import { getContractDocument, getContractPage } from "./contract.ts";
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
  | "unfreeze"
>;

const METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The features of this relay beyond the minimum of its contract. */
function listFeatures({ payments, federation }: Config): string[] {
  return [
    "tasks",
    "task-events",
    "budget",
    "withdrawals",
    "credentials",
    "ledgers",
    "records",
    "approvals",
    "pairing",
    "webhooks",
    "websocket",
    "mcp-forward",
    "a2a",
    ...(payments.cardSecretKey === undefined ? [] : ["cards"]),
    ...(payments.realPayments ? ["x402"] : []),
    ...(federation.endpointUrl === undefined ? [] : ["federation", ...OWN_FEATURES]),
  ];
}

export function systemHandlers(services: Services, draining: () => boolean): SystemHandlers {
  const { config, identity, freezer, router, log } = services;
  const liveAnswer = { status: 200, body: { status: "ok" } } as const;
  registerRelayMetrics(services.metrics, services, draining);
  return {
    health: () => ({ status: 200, body: { status: "ok", incarnation: freezer.incarnation } }),
    live: () => liveAnswer,
    ready: () => checkReadiness(services, draining()),
    async metrics() {
      const { registry } = services.metrics;
      return { status: 200, mediaType: METRICS_MEDIA_TYPE, content: await registry.metrics() };
    },
    docs: () => ({
      status: 200,
      mediaType: "text/html; charset=utf-8",
      content: getContractPage(),
      headers: { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" },
    }),
    relayInfo: () => ({
      status: 200,
      body: {
        relay_id: identity.relayId,
        did: identity.did,
        public_key: identity.publicKey,
        ...toSuccessionMember(identity),
        name: config.identity.relayName,
        base_url: config.server.baseUrl ?? null,
        fee_rate: config.payments.platformFeeRate,
        features: listFeatures(config),
        incarnation: freezer.incarnation,
        version,
      },
    }),
    openApi: () => ({ status: 200, body: getContractDocument() }),
    reconcile: () => reconcile(services),
    async freeze({ body }) {
      const frozen = await freezer.freeze(body.reason);
      log.warn("relay.frozen", { reason: frozen.reason });
      return { status: 200, body: { frozen: true, ...frozen } };
    },
    async unfreeze({ body }) {
      if (freezer.frozen()?.restored === true && body.restored !== true) {
        return refuseField(
          "restored",
          "must be true: the database was restored from a backup, so compare the pending withdrawals and the peers that the start has listed first",
        );
      }
      await freezer.unfreeze();
      services.jobMonitor.resetAges();
      log.info("relay.unfrozen", {});
      // Devices were not offered the tasks that became due meanwhile.
      void router.retryAllPending();
      return { status: 200, body: { frozen: false, reason: null, since: null } };
    },
  };
}
