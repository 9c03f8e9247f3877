export interface TamperedText {
  readonly text: string;
  readonly before: string;
  readonly after: string;
}

/** Changes one digit inside the receipt's `result`, so that the text remains JSON of the same structure. */
export function changeOneByte(receiptText: string, result: string): TamperedText {
  const quoted = JSON.stringify(result);
  const start = receiptText.indexOf(quoted);
  const digit = quoted.search(/\d/);
  if (start === -1 || digit === -1) throw new Error("the result has no digit to change");
  const at = start + digit;
  const before = receiptText.charAt(at);
  const after = String((Number(before) + 1) % 10);
  return { text: receiptText.slice(0, at) + after + receiptText.slice(at + 1), before, after };
}
