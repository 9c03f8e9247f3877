import { accountOf } from "@agent/budget";
import type { Reader } from "../../storage/storage.ts";
import { findAccount } from "../store.ts";
import { getCardHeld } from "./card-lots.ts";

/** Returns whether card money that is not released is in the open hold of a task. */
export async function hasHeldCardMoney(
  read: Reader,
  taskId: string,
  now: number,
): Promise<boolean> {
  const held = await findAccount(read, accountOf.held(taskId));
  return held !== undefined && getCardHeld(held, now) > 0;
}
