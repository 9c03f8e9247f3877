import { fromMicro } from "@agent/budget";
import { Gauge, type Registry } from "prom-client";
import type { Services } from "../services.ts";
import type { Federation } from "./federation.ts";
import { getTotalUndecidedAmount } from "./exposure/undecided-store.ts";
import { getTotalDefaultedAmount } from "./inbound/inbound-store.ts";
import { listPeers } from "./peers/peer-store.ts";

/** Registers the alarms between relays, which are read when metrics are collected. */
export function registerFederationMetrics(
  registry: Registry,
  { storage }: Pick<Services, "storage">,
  { positionDifferences: differences }: Federation,
): void {
  const registers = [registry];
  new Gauge({
    name: "agent_relay_federation_defaulted_usd",
    help: "Value in USD of results that peers accepted and did not settle in time, until cleared.",
    registers,
    async collect() {
      this.set(fromMicro(await getTotalDefaultedAmount(storage.reserved)));
    },
  });
  new Gauge({
    name: "agent_relay_federation_undecided_usd",
    help: "Value in USD of results that peers did not answer or settle before their holds expired.",
    registers,
    async collect() {
      this.set(fromMicro(await getTotalUndecidedAmount(storage.reserved)));
    },
  });
  new Gauge({
    name: "agent_relay_federation_positions_differing",
    help: "Peers whose books differ from the local ones while nothing is in flight.",
    registers,
    async collect() {
      // A removed peer is no longer compared.
      const peers = await listPeers(storage.reserved);
      this.set(peers.filter(({ relay_id }) => differences.get(relay_id)?.isConfirmed).length);
    },
  });
}
