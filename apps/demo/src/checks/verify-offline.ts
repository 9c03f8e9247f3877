import { verifyReceipt, type ReceiptVerdict } from "@agent/receipts";
import { changeOneByte, type TamperedText } from "./change-one-byte.ts";

/** What somebody needs who was not there: the text of the receipt, and whose keys count. */
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

/** Judges the receipt, and again with one byte of its result changed; asks nobody. */
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

/** The rung of the ladder at which a receipt was refused. */
export function findFailedCheck({ checks }: ReceiptVerdict): string | undefined {
  return checks.find(({ ok }) => !ok)?.name;
}
