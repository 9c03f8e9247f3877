import { verifyReceipt, type ReceiptVerdict } from "@agent/receipts";
import { changeOneByte, type TamperedText } from "./change-one-byte.ts";

/** The input of an offline verification: the text of the receipt and the trusted keys. */
export interface OfflineInput {
  readonly receiptText: string;
  /** The public keys from the relay's registry, by agent id. */
  readonly keys: ReadonlyMap<string, string>;
  readonly taskId: string;
  readonly prompt: string;
}

export interface OfflineVerdicts {
  readonly asSigned: ReceiptVerdict;
  readonly tampered: TamperedText & { readonly verdict: ReceiptVerdict };
}

/** Verifies the receipt as signed and with one byte of its result changed, without any request. */
export function verifyOffline(input: OfflineInput, result: string): OfflineVerdicts {
  const { receiptText, keys, taskId, prompt } = input;
  const verifyText = (text: string) =>
    verifyReceipt(text, {
      taskId,
      prompt,
      findKeys: ({ agent_id }) => keys.get(agent_id) ?? [],
    });
  const tampered = changeOneByte(receiptText, result);
  return {
    asSigned: verifyText(receiptText),
    tampered: { ...tampered, verdict: verifyText(tampered.text) },
  };
}

/** Returns the failed check of a refused receipt. */
export function findFailedCheck({ checks }: ReceiptVerdict): string | undefined {
  return checks.find(({ ok }) => !ok)?.name;
}
