import { bootstrapAgent, createRelayClient, type RelayClient } from "@agent/client";
import { bytesToHex, generateKeyPair, getPublicKey } from "@agent/crypto";
import type { Operations, Result } from "@agent/wire";
import { unwrapBody } from "./unwrap-body.ts";
import type { Processes, RunningProcess } from "./processes.ts";
import { buildAgentProgram, createSecret, buildRelayProgram } from "./programs.ts";

/** An agent with the data that the relay's registry shows. */
export interface Member {
  readonly name: string;
  readonly agentId: string;
  /** 64 hex digits. */
  readonly publicKey: string;
}

export interface Worker extends Member {
  readonly capability: string;
  /** USD per task. */
  readonly price: number;
}

/** An agent without a server. */
export interface ClientAgent extends Member {
  readonly client: RelayClient;
  /** The 32-byte seed of its key, with which it signs its statements. */
  readonly secretKey: Uint8Array;
  readonly deviceId: string;
}

/** All running participants of the demo. */
export interface Participants {
  readonly relayUrl: string;
  readonly relay: Result<Operations["relayInfo"]>;
  /** A client with the master token. */
  readonly operator: RelayClient;
  readonly editor: ClientAgent;
  readonly research: Worker;
  readonly linguist: Worker;
  /** Does the same work as the linguist, at a higher price. */
  readonly professor: Worker;
}

/** Starts a relay and its agent servers on free ports. */
export async function startParticipants(
  processes: Processes,
  dataDir: string,
): Promise<Participants> {
  const masterToken = createSecret();
  const relayUrl = await readRelayUrl(processes.start(buildRelayProgram(masterToken, dataDir)));
  const operator = createRelayClient({ baseUrl: relayUrl, identity: { masterToken } });
  const worker = async (name: string) => {
    const agentId = await startAgent(processes, name, relayUrl, dataDir);
    return getWorker(operator, name, agentId);
  };
  const [relay, editor, research, linguist, professor] = await Promise.all([
    operator.relayInfo().then(unwrapBody),
    joinAsClient("editor", relayUrl),
    worker("research"),
    worker("linguist"),
    worker("professor"),
  ]);
  return { relayUrl, relay, operator, editor, research, linguist, professor };
}

/** Returns the address of a relay that listens on a random port, which it reads from the relay's output. */
export async function readRelayUrl(relay: RunningProcess): Promise<string> {
  const port = await relay.waitForLine(
    (line) => /"msg":"relay\.listening".*"port":(?<port>\d+)/.exec(line)?.groups?.["port"],
  );
  return `http://127.0.0.1:${port}`;
}

export async function startAgent(
  processes: Processes,
  name: string,
  relayUrl: string,
  dataDir: string,
) {
  const agent = processes.start(buildAgentProgram(name, relayUrl, dataDir));
  const agentId = await agent.waitForLine(
    (line) => /^\S+ (?<id>[0-9a-f-]{36}) listening on /.exec(line)?.groups?.["id"],
  );
  await agent.waitForLine((line) => line.startsWith("registered at ") || undefined);
  return agentId;
}

export async function getWorker(
  operator: RelayClient,
  name: string,
  agentId: string,
): Promise<Worker> {
  const entry = unwrapBody(await operator.getAgent({ params: { agentId } }));
  const [offer] = entry.pricing;
  if (offer === undefined || entry.public_key === null)
    throw new Error(`${name} has no price or key`);
  const { capability, unit_cost: price } = offer;
  return { name, agentId, publicKey: entry.public_key, capability, price };
}

/** Registers an agent without a server, which uses the client with its own key. */
export async function joinAsClient(name: string, relayUrl: string): Promise<ClientAgent> {
  const { secretKey } = generateKeyPair();
  const joined = await bootstrapAgent({ baseUrl: relayUrl, secretKey });
  if (!joined.ok) throw new Error(`${name} was refused: ${joined.message} (${joined.code})`);
  const { identity } = joined;
  return {
    name,
    agentId: identity.agentId,
    publicKey: bytesToHex(getPublicKey(secretKey)),
    client: createRelayClient({ baseUrl: relayUrl, identity }),
    secretKey,
    deviceId: identity.deviceId,
  };
}
