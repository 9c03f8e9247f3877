import { createServer, type AddressInfo } from "node:net";
import { createRelayClient, type RelayClient } from "@agent/client";
import type { Operations, Result } from "@agent/wire";
import { bodyOf } from "../body-of.ts";
import type { Processes, Running } from "../processes.ts";
import { newSecret, peerRelayProgram } from "../programs.ts";

/** A relay of the network, up and running. */
export interface NetworkRelay {
  readonly name: string;
  readonly url: string;
  readonly info: Result<Operations["relayInfo"]>;
  /** Acts with the master token. */
  readonly operator: RelayClient;
  /** Kills it and starts it again on what its database holds. */
  readonly down: () => Promise<{ readonly up: () => Promise<void> }>;
}

/** Starts a relay on a port that is free now: its peers have to find it there again. */
export async function startRelay(
  processes: Processes,
  name: string,
  dataDir: string,
): Promise<NetworkRelay> {
  const masterToken = newSecret();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = peerRelayProgram({ name, port, masterToken, dataDir });
  const start = async (): Promise<Running> => {
    const running = processes.start(program);
    await running.seen((line) => line.includes('"msg":"relay.listening"') || undefined);
    return running;
  };
  let running = await start();
  const operator = createRelayClient({ baseUrl: url, identity: { masterToken } });
  return {
    name,
    url,
    info: bodyOf(await operator.relayInfo()),
    operator,
    async down() {
      await running.crash();
      return {
        async up() {
          running = await start();
        },
      };
    },
  };
}

/** The whole handshake, from the first relay's side. */
export async function peerRelays(one: NetworkRelay, other: NetworkRelay): Promise<void> {
  bodyOf(await one.operator.addPeer({ body: { endpoint_url: other.url } }));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
