import { bodyOf } from "../body-of.ts";
import type { Processes } from "../processes.ts";
import { joinAsClient, readWorker, startAgent, type Client, type Worker } from "../stage.ts";
import { peerRelays, startRelay, type NetworkRelay } from "./relays.ts";

/** Three relays in a line, two agents that hire and three that work. */
export interface Cast {
  readonly relays: readonly [NetworkRelay, NetworkRelay, NetworkRelay];
  readonly editor: Client;
  readonly publisher: Client;
  readonly research: Worker;
  readonly linguist: Worker;
  readonly professor: Worker;
}

/** USD that those who hire, and research for its own helpers, bring along. */
export const deposits = { editor: 10, publisher: 5, research: 1 } as const;

export async function assemble(processes: Processes, dataDir: string): Promise<Cast> {
  const [alpha, beta, gamma] = await Promise.all([
    startRelay(processes, "alpha", dataDir),
    startRelay(processes, "beta", dataDir),
    startRelay(processes, "gamma", dataDir),
  ]);
  await peerRelays(alpha, beta);
  await peerRelays(beta, gamma);
  const worker = async (name: string, { url, operator }: NetworkRelay) =>
    readWorker(operator, name, await startAgent(processes, name, url, dataDir));
  const [editor, publisher, research, linguist, professor] = await Promise.all([
    joinAsClient("editor", alpha.url),
    joinAsClient("publisher", gamma.url),
    worker("research", beta),
    worker("linguist", beta),
    worker("professor", gamma),
  ]);
  const pay = async ({ operator }: NetworkRelay, agentId: string, amount: number) =>
    bodyOf(await operator.deposit({ params: { agentId }, body: { amount } }));
  await pay(alpha, editor.agentId, deposits.editor);
  await pay(gamma, publisher.agentId, deposits.publisher);
  await pay(beta, research.agentId, deposits.research);
  return { relays: [alpha, beta, gamma], editor, publisher, research, linguist, professor };
}
