/** There is one while the relay stands still. */
export interface FreezeRow {
  one: 1;
  since: number;
  reason: string;
}
