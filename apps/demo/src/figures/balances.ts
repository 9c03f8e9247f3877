import type { RelayClient } from "@agent/client";
import { unwrapBody } from "../participants/unwrap-body.ts";
import type { Participants } from "../participants/participants.ts";

/** An account at one moment, in USD. */
export interface Balance {
  readonly name: string;
  readonly balance: number;
  readonly held: number;
}

/** The workers need no money in order to earn, but research needs some to delegate. */
const DEPOSITS = { editor: 10, research: 1 };

export async function depositFunds({ operator, editor, research }: Participants): Promise<void> {
  const depositTo = async (agentId: string, amount: number) =>
    unwrapBody(await operator.deposit({ params: { agentId }, body: { amount } }));
  await depositTo(editor.agentId, DEPOSITS.editor);
  await depositTo(research.agentId, DEPOSITS.research);
}

/** Fetches the balances over HTTP; the relay's fees are in an account of its own. */
export async function getBalances(participants: Participants): Promise<Balance[]> {
  const { operator, relay, editor, research, linguist, professor } = participants;
  const fees = { name: "relay fees", agentId: relay.relay_id };
  const accounts = [editor, research, linguist, professor, fees];
  return Promise.all(accounts.map((account) => getBalance(operator, account)));
}

async function getBalance(
  operator: RelayClient,
  { name, agentId }: { readonly name: string; readonly agentId: string },
): Promise<Balance> {
  const { balance, pending_allocations: held } = unwrapBody(
    await operator.getBalance({ params: { agentId } }),
  );
  return { name, balance, held };
}
