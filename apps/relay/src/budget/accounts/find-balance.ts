import { accountOf } from "@agent/budget";
import type { Reader } from "../../storage/storage.ts";
import { findAccount } from "../store.ts";

/** Returns an agent's balance in micro-units; 0 without an account. */
export async function findBalance(read: Reader, agentId: string): Promise<number> {
  return (await findAccount(read, accountOf.agent(agentId)))?.balance ?? 0;
}
