import { bootstrapAgent, createRelayClient, type RelayClient } from "@agent/client";
import type { Config } from "../../config/config.ts";
import type { PairingOrder } from "../../config/parse-flags.ts";
import { loadIdentity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import { pairBrowser, type PairingTerminal } from "./pair-browser.ts";

interface PairingContext {
  readonly runtime: Runtime;
  readonly terminal: PairingTerminal;
}

/** Runs the command `pair` or `unpair`, beside the running agent; returns the faults. */
export async function runPairing(
  config: Config,
  order: PairingOrder,
  { runtime, terminal }: PairingContext,
): Promise<readonly string[]> {
  const { command } = order;
  const opened = await openOwnClient(config, runtime);
  if (!opened.ok) return [`${command}: ${opened.fault}`];
  const { client, agentId, relayUrl } = opened;
  const done =
    order.command === "pair"
      ? await pairBrowser({ client, relayUrl, runtime, terminal }, order)
      : await client.revokeDevice({ params: { agentId, deviceId: order.deviceId } });
  if (!done.ok) return [`${command}: ${done.code}: ${done.message}`];
  if (order.command === "unpair") terminal.report(`ended device ${order.deviceId}`);
  return [];
}

type OwnClient =
  | {
      readonly ok: true;
      readonly client: RelayClient;
      readonly agentId: string;
      readonly relayUrl: string;
    }
  | { readonly ok: false; readonly fault: string };

/** Opens a client with the agent's own key, which alone may pair devices and end them. */
async function openOwnClient(
  { identity: settings, name, agentType, relay }: Config,
  runtime: Runtime,
): Promise<OwnClient> {
  if (relay === undefined) return { ok: false, fault: "the configuration must name a relay" };
  const loaded = await loadIdentity({ ...settings, name, agentType }, runtime);
  if (!loaded.ok) return { ok: false, fault: loaded.fault };
  const { url: relayUrl } = relay;
  const known = await bootstrapAgent({ ...runtime, ...loaded.identity, baseUrl: relayUrl });
  if (!known.ok) return { ok: false, fault: `${known.code}: ${known.message}` };
  const client = createRelayClient({ ...runtime, baseUrl: relayUrl, identity: known.identity });
  return { ok: true, client, agentId: known.identity.agentId, relayUrl };
}
