/** The key of a row in a list by amount: micro-units and the row's id. */
export const largestFirst = {
  form: /^-?\d{1,16} .*$/su,
  start: `${Number.MAX_SAFE_INTEGER} `,
  keyFrom: String,
};

/** The place of a key: the rows after it have less, or as much and a later id. */
export function parseLargestFirst(key: string): { readonly below: number; readonly after: string } {
  const end = key.indexOf(" ");
  return { below: Number(key.slice(0, end)), after: key.slice(end + 1) };
}

export function formatLargestFirst(amount: number, id: string): string {
  return `${amount} ${id}`;
}
