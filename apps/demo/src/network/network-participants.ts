import { unwrapBody } from "../participants/unwrap-body.ts";
import type { Processes } from "../participants/processes.ts";
import {
  joinAsClient,
  getWorker,
  startAgent,
  type ClientAgent,
  type Worker,
} from "../participants/participants.ts";
import { addPeering, startRelay, type NetworkRelay } from "./relays.ts";

/** Three relays in a line, two agents that delegate and three that work. */
export interface NetworkParticipants {
  readonly relays: readonly [NetworkRelay, NetworkRelay, NetworkRelay];
  readonly editor: ClientAgent;
  readonly publisher: ClientAgent;
  readonly research: Worker;
  readonly linguist: Worker;
  readonly professor: Worker;
}

/** The deposits in USD of the agents that delegate. */
export const DEPOSITS = { editor: 10, publisher: 5, research: 1 } as const;

export async function startNetwork(
  processes: Processes,
  dataDir: string,
): Promise<NetworkParticipants> {
  const [alpha, beta, gamma] = await Promise.all([
    startRelay(processes, "alpha", dataDir),
    startRelay(processes, "beta", dataDir),
    startRelay(processes, "gamma", dataDir),
  ]);
  await addPeering(alpha, beta);
  await addPeering(beta, gamma);
  const worker = async (name: string, { url, operator }: NetworkRelay) =>
    getWorker(operator, name, await startAgent(processes, name, url, dataDir));
  const [editor, publisher, research, linguist, professor] = await Promise.all([
    joinAsClient("editor", alpha.url),
    joinAsClient("publisher", gamma.url),
    worker("research", beta),
    worker("linguist", beta),
    worker("professor", gamma),
  ]);
  const depositTo = async ({ operator }: NetworkRelay, agentId: string, amount: number) =>
    unwrapBody(await operator.deposit({ params: { agentId }, body: { amount } }));
  await depositTo(alpha, editor.agentId, DEPOSITS.editor);
  await depositTo(gamma, publisher.agentId, DEPOSITS.publisher);
  await depositTo(beta, research.agentId, DEPOSITS.research);
  return { relays: [alpha, beta, gamma], editor, publisher, research, linguist, professor };
}
