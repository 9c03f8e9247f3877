import { asMicro } from "@agent/budget";
import { expect, test } from "vitest";
import { migrations } from "../../storage/migrations/index.ts";
import { openStorage } from "../../storage/open-storage.ts";
import { findReversal, recordRefund, updateBookedAmount } from "./reversal-store.ts";

test("A13: the booked amount of a payment is replaced only if it has not changed since it was read", async () => {
  const opened = await openStorage({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const { storage } = opened;
  const book = (owed: number, before: number) =>
    storage.transaction((tx) =>
      updateBookedAmount(tx, { payment_id: "pi_1", agent_id: "a", owed, before }),
    );
  await storage.transaction((tx) =>
    recordRefund(tx, { paymentId: "pi_1", refunded: asMicro(5), now: 1 }),
  );
  await book(5, 0);
  await expect(book(7, 0)).rejects.toThrow("was booked by another transaction");
  expect(await findReversal(storage.read, "pi_1")).toMatchObject({ booked: 5 });
  await storage.close();
});
