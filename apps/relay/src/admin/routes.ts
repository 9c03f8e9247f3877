import { openApi, refuse } from "@agent/wire";
import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { StorageUnavailable } from "../storage/storage.ts";
import { version } from "../version.ts";
import { reconcile } from "./reconcile.ts";
import { ping } from "./store.ts";

type SystemHandlers = Pick<
  Handlers,
  "health" | "live" | "ready" | "relayInfo" | "openApi" | "reconcile" | "freeze" | "unfreeze"
>;

export function systemHandlers(services: Services, draining: () => boolean): SystemHandlers {
  const { config, identity, storage, freezer, router, log } = services;
  const alive = { status: 200, body: { status: "ok" } } as const;
  const document = { status: 200, body: openApi(version) } as const;
  return {
    health: () => alive,
    live: () => alive,
    async ready() {
      try {
        await ping(storage.read);
      } catch (error) {
        if (error instanceof StorageUnavailable) return refuse("server.unavailable");
        throw error;
      }
      return draining() ? refuse("server.draining") : { status: 200, body: { status: "ready" } };
    },
    relayInfo: () => ({
      status: 200,
      body: {
        relay_id: identity.relayId,
        did: identity.did,
        public_key: identity.publicKey,
        name: config.identity.relayName,
        base_url: config.server.baseUrl ?? null,
        fee_rate: config.payments.platformFeeRate,
        features: ["tasks", "budget", "websocket", "mcp-forward"],
        version,
      },
    }),
    openApi: () => document,
    reconcile: () => reconcile(services),
    async freeze({ body }) {
      const frozen = await freezer.freeze(body.reason);
      log.warn("relay.frozen", { reason: frozen.reason });
      return { status: 200, body: { frozen: true, ...frozen } };
    },
    async unfreeze() {
      await freezer.unfreeze();
      log.info("relay.unfrozen", {});
      // What came due for a device meanwhile was not told.
      void router.bringAllWaiting();
      return { status: 200, body: { frozen: false, reason: null, since: null } };
    },
  };
}
