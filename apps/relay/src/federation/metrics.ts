import { fromMicro } from "@agent/budget";
import { Gauge, type Registry } from "prom-client";
import type { Services } from "../services.ts";
import type { Federation } from "./federation.ts";
import { getTotalDefaultedAmount } from "./inbound/inbound-store.ts";
import { listPeers } from "./peers/peer-store.ts";

/** Adds the alarms between relays to what the relay counts; read at the moment of asking. */
export function registerFederationMetrics(
  registry: Registry,
  { storage }: Pick<Services, "storage">,
  { positionDifferences: differences }: Federation,
): void {
  const registers = [registry];
  new Gauge({
    name: "agent_relay_federation_defaulted_usd",
    help: "What peers accepted results for and did not settle in time, until it is cleared.",
    registers,
    async collect() {
      this.set(fromMicro(await getTotalDefaultedAmount(storage.read)));
    },
  });
  new Gauge({
    name: "agent_relay_federation_positions_differing",
    help: "Peers whose books differ from those here while nothing is under way.",
    registers,
    async collect() {
      // A peer that was removed is compared no more.
      const peers = await listPeers(storage.read);
      this.set(peers.filter(({ relay_id }) => differences.has(relay_id)).length);
    },
  });
}
